// Flow 23: etcd loses its quorum: writes fail at once, cached reads and open watches continue, and everything works again when
// the quorum is back.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { Informer } from '../../src/client/informer/informer.ts'
import { configMap, deployment, pod } from '../../src/cluster/index.ts'
import { StoreUnavailable } from '../../src/store/store.ts'
import { comparePage, excerpt, since, type Section } from './page.ts'
import { ctx, SeveralServers } from './several-servers.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { replicas: 1, selector: { matchLabels: labels }, template }

const isUnavailable = (error: unknown) => error instanceof StoreUnavailable

async function clients(): Promise<Section> {
  await using servers = new SeveralServers()
  const { clock } = servers
  await servers.start({ hasComponents: false })
  await using tasks = new TaskGroup()
  const maps = servers.balancedClient('client').of(configMap)
  const deps = { clock, random: seededRandom(1), log: silentLog }
  const informer = new Informer(configMap, servers.balancedClient('reader').of(configMap), deps, {
    namespace: 'default',
  })
  const begin = servers.position
  tasks.start('reader', (signal) => informer.run(signal))
  await clock.advance('1s')
  await maps.create({ metadata: { name: 'a' } }, 'default', ctx)
  await clock.advance('1s')
  servers.quorum.isLost = true
  const startMs = clock.nowMs()
  await rejects(maps.create({ metadata: { name: 'b' } }, 'default', ctx), isUnavailable)
  await rejects(maps.get('a', 'default', ctx), isUnavailable)
  equal(clock.nowMs(), startMs, 'both fail at once')
  const cached = await maps.list({ namespace: 'default', resourceVersion: '0' }, ctx)
  deepEqual(
    cached.items.map(({ metadata }) => metadata.name),
    ['a'],
  )
  await clock.advance('20s')
  servers.quorum.isLost = false
  await maps.create({ metadata: { name: 'b' } }, 'default', ctx)
  await clock.advance('1s')
  deepEqual([...informer.all()].map(({ metadata }) => metadata.name).toSorted(), ['a', 'b'])
  const diagram = servers.messages(begin, 'configmaps', 'client', 'reader')
  equal(diagram.match(/reader ──► API Server \d: (list|watch)/g)?.length, 2, 'the watch stays open')
  return {
    heading: 'Two of three members are down',
    text: 'A write, and a read of the newest state, fail at once (503). A list with resourceVersion 0 is served from the cache, and watches stay open. Twenty seconds later one member is back: the client tries again, and the watch delivers the change.',
    diagram,
  }
}

async function components(): Promise<Section> {
  await using servers = new SeveralServers()
  const { clock } = servers
  await servers.start({ hasComponents: true, nodes: 1 })
  await clock.advance('30s')
  const client = servers.balancedClient('kubectl')
  await client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await clock.advance('10s')
  const pods = async () => (await client.of(pod).list({ namespace: 'default' }, ctx)).items
  const [before] = await pods()
  servers.quorum.isLost = true
  await clock.advance('1m')
  servers.quorum.isLost = false
  await clock.advance('1m')
  await client.of(deployment).patch('web', 'default', { spec: { replicas: 2 } }, 'merge', ctx)
  await clock.advance('30s')
  const after = await pods()
  equal(after.length, 2)
  equal(
    after.some(({ metadata }) => metadata.uid === before?.metadata.uid),
    true,
    'the pod was not replaced',
  )
  return {
    heading: 'The components afterwards',
    text: 'The quorum is lost for a minute. No lease can be renewed, so controllers and scheduler stop acting, and the kubelet cannot report; its containers keep running. Afterwards the leases are acquired again, no pod has been replaced, and a Deployment that is scaled gets its second pod.',
    diagram: excerpt(
      since(servers.flow('deployments', 'web'), 'patch deployments web'),
      /patch deployments web/,
      /controller\/replica-set ──► API Server 1: create pods/,
      /kubelet\/node-0 ──► Runtime: start container/,
    ),
  }
}

test('23 loss of etcd', async () => {
  await comparePage(
    '23-loss-of-etcd',
    'Loss of etcd',
    [await clients(), await components()],
    [
      ['one of three members is killed or hangs', 'everything continues', 'test/store/etcd-kills.test.ts'],
      [
        'two of three members are killed under a running cluster, and start again',
        'writes fail with etcd has no leader; nothing is lost',
        'test/end-to-end/etcd.test.ts',
      ],
    ],
  )
})
