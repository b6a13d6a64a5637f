// When finished Jobs are deleted.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { job } from '../api/batch/v1/job.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { made, template } from './runtime/plan.harness.ts'
import { expiryMs } from './ttl-after-finished.ts'

const end = '2030-01-01T00:00:00Z'
const ended = (type: string, status = 'True') => ({ conditions: [{ type, status, lastTransitionTime: end }] })
const expiries: [why: string, seconds: number | undefined, status: object, afterSeconds: number | undefined][] = [
  ['has not finished', 10, {}, undefined],
  ['has no TTL', undefined, ended('Complete'), undefined],
  ['is complete', 10, ended('Complete'), 10],
  ['has failed', 0, ended('Failed'), 0],
  ['is about to be complete', 10, ended('SuccessCriteriaMet'), undefined],
  ['has the condition Complete with the status False', 10, ended('Complete', 'False'), undefined],
]
for (const [why, ttlSecondsAfterFinished, status, afterSeconds] of expiries)
  test(`a Job that ${why} ${afterSeconds === undefined ? 'does not expire' : `expires after ${afterSeconds} s`}`, () => {
    const spec = {
      template: template('1'),
      ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
    }
    const wanted = afterSeconds === undefined ? undefined : Date.parse(end) + afterSeconds * 1000
    equal(expiryMs(made(job, 'j', { spec, status })), wanted)
  })

test('an expired Job is deleted with its pods', async () => {
  const ctx = context(new AbortController().signal)
  await using cluster = await startCluster({ simulation: { images: { work: () => Promise.resolve(0) } } })
  const { client, clock } = cluster
  const spec = { containers: [{ name: 'c', image: 'work' }], restartPolicy: 'Never' as const }
  await client
    .of(job)
    .create({ metadata: { name: 'j' }, spec: { ttlSecondsAfterFinished: 30, template: { spec } } }, 'default', ctx)
  await clock.advance('20s')
  equal((await client.of(job).get('j', 'default', ctx)).status.succeeded, 1)
  await clock.advance('20s')
  equal(await client.of(job).find('j', 'default', ctx), undefined)
  equal((await client.of(pod).list({ namespace: 'default' }, ctx)).items.length, 0)
})
