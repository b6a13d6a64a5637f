// runNftScript: a transaction in a process of its own, for tables that are rarely changed.
import type { CommandText } from '../../base/net/command-text.ts'
import type { Processes } from '../../platform/process/processes.ts'

export async function runNftScript(
  script: CommandText,
  processes: Pick<Processes, 'run'>,
  signal: AbortSignal,
): Promise<void> {
  const { code, stderr } = await processes.run('nft', ['-f', '-'], { input: `${script}\n` }, signal)
  if (code !== 0) throw new Error(`nft: ${stderr.trim()}`)
}
