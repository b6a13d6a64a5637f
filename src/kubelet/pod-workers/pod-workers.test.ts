// When a pod is synced again: its own status updates are no reason, whenever they arrive.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, type FlowId } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodSyncer } from './pod-syncer.ts'
import { PodWorkers } from './pod-workers.ts'

const uid = 'u'
const cause = causeOf(1 as FlowId)
const version = (resourceVersion: string, metadata: object = {}): Pod =>
  ({ metadata: { name: 'web', namespace: 'default', uid, resourceVersion, ...metadata }, spec: {} }) as unknown as Pod

const cases: [what: string, change: Pod | undefined, syncs: string[]][] = [
  ['its own status update', version('2'), ['start', 'end']],
  ['a change by another client', version('3'), ['start', 'end', 'start', 'end']],
  ['its deletion', version('2', { deletionTimestamp: 'now' }), ['start', 'aborted', 'start', 'end']],
  ['its removal from the API', undefined, ['start', 'aborted', 'start', 'end']],
]
for (const [what, change, expected] of cases)
  test(`during a sync the pod worker observes ${what}`, async () => {
    const clock = new VirtualClock()
    const syncs: string[] = []
    let reported = ''
    let wanted: Pod | undefined = version('1')
    const workers = new PodWorkers({
      states: { hasReported: (_uid, resourceVersion) => resourceVersion === reported },
      find: () => wanted,
      flow: new FlowRecorder(clock),
      nodeName: 'n',
      clock,
      log: silentLog,
    })
    const sync: PodSyncer['sync'] = async (_uid, _observed, { signal }) => {
      syncs.push('start')
      if (syncs.length === 1) {
        wanted = change
        workers.podChanged(uid, change, cause)
        await Promise.resolve()
        reported = '2'
      }
      syncs.push(signal.aborted ? 'aborted' : 'end')
      signal.throwIfAborted()
      return undefined
    }
    await using tasks = new TaskGroup()
    tasks.start('pods', (signal) => workers.run({ sync }, tasks, signal))
    workers.podChanged(uid, wanted, cause)
    await clock.advance('1s')
    deepEqual(syncs, expected)
    workers.close(undefined)
  })
