import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Metrics } from '../../base/observability/metrics.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Controller } from './controller.ts'
import { kindNamed, start, FakeApi } from './fake-api.harness.ts'

const widget = kindNamed('example.com', 'v1', 'Widget')

const queueOf = (metrics: Metrics): Record<string, number> =>
  Object.fromEntries(
    [...metrics.text().matchAll(/^workqueue_(depth|\w+_seconds)\{name="slow"\} (\S+)$/gm)].map(
      ([, name = '', value]) => [name, Number(value)],
    ),
  )

test('queue depth and work in progress are computed when the metrics are read', async () => {
  const api = new FakeApi()
  api.served.push({ kind: widget })
  const release = Promise.withResolvers<void>()
  const slow: Controller = {
    type: 'reconcile',
    name: 'slow',
    account: 'slow',
    watches: [widget],
    enqueues: (_kind, { key }) => [key],
    reconcile: (_key, _tools, { signal }) => unlessAborted(release.promise, signal).then(() => undefined),
  }
  // Five workers process one key each; three keys wait.
  for (let index = 0; index < 8; index++) api.add(widget, { name: `w${index}` })
  await using running = start(slow, api)
  await running.settle('10s')
  deepEqual(queueOf(running.metrics), { depth: 3, longest_running_processor_seconds: 10, unfinished_work_seconds: 50 })
  release.resolve()
  await running.settle('1s')
  deepEqual(queueOf(running.metrics), { depth: 0, longest_running_processor_seconds: 0, unfinished_work_seconds: 0 })
})
