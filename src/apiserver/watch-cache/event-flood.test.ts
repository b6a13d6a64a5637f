// One namespace is flooded with Events: clients of other namespaces are served without delay, and the Events expire.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { fairnessBootstrapObjects } from '../fairness/default-flow-schemas.ts'
import { FairnessMetrics } from '../fairness/fairness-metrics.ts'
import { Fairness } from '../fairness/fairness.ts'
import { startServer } from '../server.harness.ts'
import { openPolicies } from '../open-policies.ts'

const eventsTotal = 5000
const eventsAtOnce = 500
const hourMs = 3_600_000

const eventsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/events`
const event = (namespace: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace },
  involvedObject: { kind: 'Pod', namespace, name: 'p' },
  reason: 'Flood',
  message: 'x'.repeat(1000),
  type: 'Normal',
})

test('a flood of Events in one namespace does not starve others, shares few leases, and expires after an hour', async () => {
  const clock = new VirtualClock()
  const fairnessMetrics = new FairnessMetrics(new Metrics())
  await using server = await startServer(
    (caches) => ({
      ...openPolicies,
      seatOf: new Fairness(caches, { clock, metrics: fairnessMetrics, seats: 60 }).seatOf,
    }),
    { clock, bootstrapObjects: fairnessBootstrapObjects },
  )
  const { store } = server
  const made = async (target: string, body: object, as: string) =>
    (await server.call('POST', target, body, { as })).status
  for (const name of ['noisy', 'calm'])
    equal(
      await made(
        '/api/v1/namespaces',
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        'admin,system:masters',
      ),
      201,
    )
  await clock.settle()

  let leases = 0
  const grantLease = store.grantLease.bind(store)
  store.grantLease = (ttlMs, signal) => {
    leases++
    return grantLease(ttlMs, signal)
  }
  const calmWatch = server.watch(`${eventsIn('calm')}?watch=1`, eventsTotal / eventsAtOnce)
  const maps = '/api/v1/namespaces/calm/configmaps'
  const refusals: number[] = []
  for (let batch = 0; batch < eventsTotal / eventsAtOnce; batch++) {
    const flood = Array.from({ length: eventsAtOnce }, (_, index) => {
      const body = event('noisy', `e-${batch}-${index}`)
      return made(eventsIn('noisy'), body, 'flooder')
    })
    // During the flood, other clients create, read and record Events.
    equal(await made(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${batch}` } }, 'worker'), 201)
    equal(await made(eventsIn('calm'), event('calm', `calm-${batch}`), 'worker'), 201)
    equal((await server.call('GET', `${maps}/c-${batch}`, undefined, { as: 'worker' })).status, 200)
    for (const status of await Promise.all(flood)) if (status !== 201) refusals.push(status)
  }
  // The flood exceeds the queues of its flow: the rest of it is rejected as too many requests.
  deepEqual(new Set(refusals), new Set([429]))
  const seen = await calmWatch
  deepEqual(
    seen.map(({ object }) => object.metadata.namespace as string),
    seen.map(() => 'calm'),
  )
  const flooded = (await server.call('GET', eventsIn('noisy'))).body.items.length as number
  equal(flooded, eventsTotal - refusals.length)
  equal(leases <= 2, true, `${leases} leases for ${flooded} events`)

  await clock.advance(2 * hourMs)
  for (const namespace of ['noisy', 'calm'])
    deepEqual((await server.call('GET', eventsIn(namespace))).body.items, [], namespace)
  equal((await server.call('GET', maps)).body.items.length >= eventsTotal / eventsAtOnce, true)
})
