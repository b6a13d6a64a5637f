// When a pod is synced again: its own status updates are no reason, whenever they arrive.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, type FlowId } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { PodWorkers } from './pod-workers.ts'

const uid = 'u'
const cause = causeOf(1 as FlowId)
const version = (resourceVersion: string, metadata: object = {}): Pod =>
  ({ metadata: { name: 'web', namespace: 'default', uid, resourceVersion, ...metadata }, spec: {} }) as unknown as Pod

const cases: [what: string, comes: Pod | undefined, looks: string[]][] = [
  ['its own words', version('2'), ['begins', 'ends']],
  ['somebody else’s change', version('3'), ['begins', 'ends', 'begins', 'ends']],
  ['its deletion', version('2', { deletionTimestamp: 'now' }), ['begins', 'is stopped', 'begins', 'ends']],
  ['that it is gone', undefined, ['begins', 'is stopped', 'begins', 'ends']],
]
for (const [what, comes, expected] of cases)
  test(`while a pod is looked at comes ${what}`, async () => {
    const clock = new VirtualClock()
    const looks: string[] = []
    let [told, wanted]: [string, Pod | undefined] = ['', version('1')]
    const syncs = new PodWorkers({
      worker: {
        hasTold: (_uid, resourceVersion) => resourceVersion === told,
        sync: async (_uid, _known, { signal }) => {
          looks.push('begins')
          if (looks.length === 1) {
            wanted = comes
            syncs.podChanged(uid, comes, cause)
            await Promise.resolve()
            told = '2'
          }
          looks.push(signal.aborted ? 'is stopped' : 'ends')
          signal.throwIfAborted()
          return undefined
        },
      },
      find: () => wanted,
      flow: new FlowRecorder(clock),
      nodeName: 'n',
      clock,
      log: silentLog,
    })
    await using tasks = new TaskGroup()
    tasks.start('pods', (signal) => syncs.run(tasks, signal))
    syncs.podChanged(uid, wanted, cause)
    await clock.advance('1s')
    deepEqual(looks, expected)
    syncs.close(undefined)
  })
