// Every component works under its own identity, and no request that it needs is rejected.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import {
  context,
  cronJob,
  daemonSet,
  deployment,
  job,
  namespace,
  pod,
  service,
  statefulSet,
} from '../../src/cluster/index.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'x' }
const selector = { matchLabels: labels }
const containers = [{ name: 'c', image: 'i' }]
const template = { metadata: { labels }, spec: { containers } }
const once = { spec: { template: { spec: { containers, restartPolicy: 'Never' as const } } } }

test('workloads of every kind are created and deleted, and no request of a component is rejected', async () => {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, accountKey })
  const store = new MemoryStore(clock)
  const controllerSettings = { certificateAuthority: () => 'PEM' }
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 2, controllerSettings })
  const refused: string[] = []
  const senders = new Set<string>()
  cluster.start()
  let isReady = false
  void cluster.ready.then(() => (isReady = true))
  await clock.runUntil(() => isReady, '1m')
  const client = cluster.client('test', adminUser)
  await client.of(namespace).create({ metadata: { name: 'work' } }, '', ctx)
  await clock.advance('1s')
  await client
    .of(deployment)
    .create({ metadata: { name: 'd' }, spec: { replicas: 2, selector, template } }, 'work', ctx)
  await client
    .of(statefulSet)
    .create({ metadata: { name: 's' }, spec: { serviceName: 's', selector, template } }, 'work', ctx)
  await client.of(daemonSet).create({ metadata: { name: 'ds' }, spec: { selector, template } }, 'work', ctx)
  await client.of(job).create({ metadata: { name: 'j' }, ...once }, 'work', ctx)
  await client
    .of(cronJob)
    .create({ metadata: { name: 'c' }, spec: { schedule: '* * * * *', jobTemplate: once } }, 'work', ctx)
  await client
    .of(service)
    .create({ metadata: { name: 'svc' }, spec: { selector: labels, ports: [{ port: 80 }] } }, 'work', ctx)
  await clock.advance('3m')
  ok((await client.of(pod).list({ namespace: 'work' }, ctx)).items.length >= 5)
  await client.of(deployment).delete('d', 'work', {}, ctx)
  await client.of(namespace).delete('work', '', {}, ctx)
  await clock.advance('3m')
  for (const { arrow, from, what, outcome, object, allowedBy } of cluster.flow.events()) {
    if (arrow === 'call') senders.add(from)
    // Requests that were authorized and still rejected were rejected by admission, because the namespace is
    // terminating.
    if (outcome?.startsWith('403') && allowedBy === undefined) refused.push(`${from}: ${what} ${object?.name}`)
  }
  deepEqual([...new Set(refused)], [])
  ok(senders.size > 10, [...senders].join())
  await cluster.stop()
})
