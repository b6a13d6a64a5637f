// Ranges of nodes: no two nodes share one, after restarts and with concurrent registrations.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { Cluster } from '../../cluster/run/cluster.ts'
import { adminUser } from '../../cluster/client/component-users.ts'
import { context, startCluster } from '../../cluster/index.ts'
import { buildRequestPolicies } from '../../cluster/policy/request-policies.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { NodeRanges } from '../runtime/controller-settings.ts'

const ctx = context(new AbortController().signal)

async function startWith(...ranges: NodeRanges[]) {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, accountKey })
  const controllerSettings = { nodeRanges: { ranges, reserved: ['10.0.1.0/24'] } }
  const store = new MemoryStore(clock)
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  const client = cluster.client('test', adminUser)
  const rangesOf = async () =>
    Object.fromEntries(
      (await client.of(node).list({}, ctx)).items.map(({ metadata, spec }) => [metadata.name, spec.podCIDRs?.join()]),
    )
  const make = (name: string, spec: object = {}) => client.of(node).create({ metadata: { name }, spec }, '', ctx)
  return { cluster, clock, client, make, rangesOf, [Symbol.asyncDispose]: () => cluster.stop() }
}

test('every node gets its own range, outside reserved ranges and those of other nodes', async () => {
  await using world = await startWith({ cidr: '10.0.0.0/21', maskSize: 24 }, { cidr: 'fd00::/60', maskSize: 64 })
  const { clock, client, make, rangesOf } = world
  await make('brought', { podCIDR: '10.0.3.0/24', podCIDRs: ['10.0.3.0/24'] })
  await Promise.all(['a', 'b', 'c'].map((name) => make(name)))
  await clock.advance('1s')
  deepEqual(await rangesOf(), {
    brought: '10.0.3.0/24',
    a: '10.0.0.0/24,fd00::/64',
    b: '10.0.2.0/24,fd00:0:0:1::/64',
    c: '10.0.4.0/24,fd00:0:0:2::/64',
  })
  equal((await client.of(node).get('a', '', ctx)).spec.podCIDR, '10.0.0.0/24')
})

test('a node without a free range gets an event, and later a range that was released', async () => {
  await using world = await startWith({ cidr: '10.0.0.0/23', maskSize: 24 })
  const { clock, client, make, rangesOf } = world
  await make('a')
  await clock.advance('1s')
  await make('b')
  await clock.advance('1s')
  deepEqual(await rangesOf(), { a: '10.0.0.0/24', b: undefined })
  const { items } = await client.of(event).list({}, ctx)
  deepEqual(
    items
      .filter(({ involvedObject }) => involvedObject.kind === 'Node' && involvedObject.name === 'b')
      .filter(({ reason }) => reason === 'CIDRNotAvailable')
      .map(({ type, message, source }) => [type, message, source?.component]),
    [['Normal', 'Node b status is now: CIDRNotAvailable', 'cidrAllocator']],
  )
  await client.of(node).delete('a', '', {}, ctx)
  await clock.advance('1s')
  deepEqual(await rangesOf(), { b: '10.0.0.0/24' })
})

for (const seed of [1, 2, 3])
  test(`nodes are added and removed while the controllers restart: no range is assigned twice. Seed ${seed}`, async () => {
    await using world = await startWith({ cidr: '10.0.0.0/20', maskSize: 24 })
    const { cluster, clock, client, make, rangesOf } = world
    const random = seededRandom(seed)
    const controllers = cluster.components.get('controllers')
    for (let step = 0; step < 40; step++) {
      const held = Object.values(await rangesOf()).filter((range) => range !== undefined)
      equal(new Set(held).size, held.length, held.join())
      const name = `n${random.below(15)}`
      if (random.below(3) === 0)
        await client
          .of(node)
          .delete(name, '', {}, ctx)
          .catch(() => undefined)
      else await make(name).catch(() => undefined)
      if (random.below(4) === 0) {
        const killed = controllers?.kill()
        // Sometimes the next instance starts while the last one is still stopping.
        if (random.below(2) === 0) await killed
        controllers?.start()
        await killed
      }
      await clock.advance(random.below(20))
    }
    await clock.advance('1m')
    const ranges = Object.values(await rangesOf())
    equal(ranges.includes(undefined), false)
    equal(new Set(ranges).size, ranges.length)
  })

test('pods of simulated nodes have addresses in the range of their node', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  for (const name of ['p', 'q']) await client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
  await clock.advance('5s')
  const nodes = await client.of(node).list({}, ctx)
  const rangeOf = new Map(nodes.items.map(({ metadata, spec: { podCIDR } }) => [metadata.name, podCIDR]))
  deepEqual([...rangeOf.values()].toSorted(), ['10.244.0.0/24', '10.244.1.0/24'])
  const { items: pods } = await client.of(pod).list({}, ctx)
  equal(pods.length, 2)
  for (const { spec: placed, status } of pods) {
    ok(status.podIP, 'the pod runs')
    equal(status.podIP.replace(/\d+$/, '0/24'), rangeOf.get(placed.nodeName ?? ''))
  }
})
