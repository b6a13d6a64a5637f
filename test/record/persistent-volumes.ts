// Records the tables of `test/persistent-volumes/states` from a running kube-apiserver and kube-controller-manager, whose flag
// `--pvclaimbinder-sync-period` must be half a second:
//   node test/record/persistent-volumes.ts admin.kubeconfig [area …]
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { event } from '../../src/api/core/v1/event.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { context } from '../../src/cluster/index.ts'
import { areas } from '../persistent-volumes/areas.ts'
import { runScenario, type RecordedState } from '../persistent-volumes/run-scenario.ts'
import { kindsUsed } from '../persistent-volumes/scenario.ts'

const [file = '', ...wanted] = process.argv.slice(2)
const { signal } = new AbortController()
await using remote = await openRemote(readFileSync(file, 'utf8'), signal)
const client = remote.clientAs('recorder')
const ctx = context(signal)

const pollMs = 200
/** Several sync periods, and retries after conflicts. */
const quietPolls = 8

/** The versions of all objects, and the distinct events: a repetition is no change. */
async function versions(): Promise<string> {
  const lists = await Promise.all(
    Object.values(kindsUsed).map(async (kind) => (await client.of(kind).list({}, ctx)).items),
  )
  const events = (await client.of(event).list({}, ctx)).items
  return [
    ...lists.flat().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`),
    ...events.map(({ metadata }) => metadata.uid),
  ].join()
}

async function settle(): Promise<void> {
  let last = ''
  for (let quiet = 0; quiet < quietPolls;) {
    await sleep(pollMs)
    const now = await versions()
    quiet = now === last ? quiet + 1 : 0
    last = now
  }
}

for (const [area, scenarios] of Object.entries(areas)) {
  if (wanted.length > 0 && !wanted.includes(area)) continue
  const states: RecordedState[] = []
  for (const each of scenarios)
    states.push(...(await runScenario({ client, context: ctx, yield: () => sleep(pollMs), settle }, each)))
  const text = states.map((state) => `${JSON.stringify(state)}\n`).join('')
  writeFileSync(new URL(`../persistent-volumes/states/${area}.jsonl`, import.meta.url), text)
  process.stdout.write(`${area}: ${scenarios.length} scenarios, ${states.length} states\n`)
}
