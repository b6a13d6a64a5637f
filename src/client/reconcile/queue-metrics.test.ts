import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { queueMetrics } from './queue-metrics.ts'
import { Reconciler } from './reconciler.ts'

const queueOf = (metrics: Metrics): Record<string, number> =>
  Object.fromEntries(
    [...metrics.text().matchAll(/^workqueue_(depth|\w+_seconds)\{name="slow"\} (\S+)$/gm)].map(
      ([, name = '', value]) => [name, Number(value)],
    ),
  )

test('queue depth and work in progress are computed when the metrics are read', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const release = Promise.withResolvers<void>()
  const deps = { clock, log: silentLog, metrics: queueMetrics(metrics) }
  const slow = new Reconciler({ name: 'slow', workers: 5 }, deps)
  await using tasks = new TaskGroup()
  slow.start(
    (_, { signal }) => unlessAborted(release.promise, signal).then(() => undefined),
    () => Promise.resolve(),
    tasks,
  )
  // Five workers process one key each; three keys wait.
  for (let index = 0; index < 8; index++) slow.add(`w${index}`)
  await clock.advance('10s')
  deepEqual(queueOf(metrics), { depth: 3, longest_running_processor_seconds: 10, unfinished_work_seconds: 50 })
  release.resolve()
  await clock.advance('1s')
  deepEqual(queueOf(metrics), { depth: 0, longest_running_processor_seconds: 0, unfinished_work_seconds: 0 })
})
