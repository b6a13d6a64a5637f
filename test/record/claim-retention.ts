// Records the table `test/claim-retention/states.jsonl` from a running kube-apiserver and kube-controller-manager:
//   node test/record/claim-retention.ts admin.kubeconfig
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { statefulSet } from '../../src/api/apps/v1/stateful-set.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { context } from '../../src/cluster/index.ts'
import { retentionCases, runRetention, type RetentionState } from '../claim-retention/run-retention.ts'

const [file = ''] = process.argv.slice(2)
const { signal } = new AbortController()
await using remote = await openRemote(readFileSync(file, 'utf8'), signal)
const client = remote.clientAs('recorder')
const ctx = context(signal)
const kinds = [statefulSet, pod, persistentVolumeClaim] as unknown as readonly Kind[]

const pollMs = 200
/** Longer than retries after conflicts and an attempt of the garbage collector. */
const quietPolls = 6

async function versions(): Promise<string> {
  const lists = await Promise.all(kinds.map(async (kind) => (await client.of(kind).list({}, ctx)).items))
  return lists
    .flat()
    .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
    .join()
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

const states: RetentionState[] = []
for (const each of retentionCases) states.push(...(await runRetention({ client, context: ctx, settle }, each)))
const text = states.map((state) => `${JSON.stringify(state)}\n`).join('')
writeFileSync(new URL('../claim-retention/states.jsonl', import.meta.url), text)
process.stdout.write(`${retentionCases.length} cases, ${states.length} states\n`)
