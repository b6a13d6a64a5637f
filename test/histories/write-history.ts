// Writes a history as files: <name>.jsonl, and for each object <name>-<key>.edn in Jepsen's format.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { historyText, type History } from './history.ts'
import { jepsenHistory } from './jepsen-history.ts'

export async function writeHistory(folder: string, name: string, history: History): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name}.jsonl`), historyText(history))
  for (const key of new Set(history.calls.map((call) => call.key))) {
    const own = history.calls.filter((call) => call.key === key)
    await writeFile(join(folder, `${name}-${key}.edn`), jepsenHistory(own))
  }
}
