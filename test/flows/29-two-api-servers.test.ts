// Flow 29: two API servers on one store: what is written through one is observed through the other in order and exactly once,
// also by components whose server restarts or lags.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { Informer } from '../../src/client/informer/informer.ts'
import { configMap, deployment, pod } from '../../src/cluster/index.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { comparePage, excerpt, inOrder, since, type Section } from './page.ts'
import { ctx, SeveralServers, type ServerProcess } from './several-servers.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { replicas: 1, selector: { matchLabels: labels }, template }

const client = ({ cluster }: ServerProcess, sender: string) => cluster.client(sender, adminUser)

/** The first process has an API server only; all other components run in the second. */
async function startTwo() {
  const servers = new SeveralServers()
  const first = await servers.start({ hasComponents: false })
  const second = await servers.start({ hasComponents: true, nodes: 1 })
  await servers.clock.advance('30s')
  return { servers, first, second, [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose]() }
}

async function acrossServers(): Promise<Section> {
  await using two = await startTwo()
  const { servers, first, second } = two
  await client(first, 'kubectl')
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await servers.clock.advance('10s')
  const [running] = (await client(second, 'kubectl').of(pod).list({ namespace: 'default' }, ctx)).items
  equal(running?.status.phase, 'Running')
  const flow = servers.flow('deployments', 'web')
  inOrder(
    flow,
    /kubectl ──► API Server 1: create deployments web → 201/,
    /API Server 1 ══► Store: put deployment web/,
    /API Server 2 --► controller\/deployment: ADDED deployments web/,
    /kubelet\/node-0 ──► API Server 2: patch pods\/status web-\w+-\w+ → 200/,
  )
  return {
    heading: 'Written through one, observed through the other',
    text: 'A Deployment is created through the first server. Controllers, scheduler and kubelet are connected to the second one. The records of both servers are drawn as one.',
    diagram: excerpt(
      flow,
      /controller\/replica-set ──► API Server 2: create pods/,
      /scheduler ──► API Server 2: create pods\/binding/,
      /kubelet\/node-0 ──► Runtime: start container/,
    ),
  }
}

async function inTurns(): Promise<Section> {
  await using two = await startTwo()
  const { servers, first, second } = two
  await using tasks = new TaskGroup()
  const seen: string[] = []
  const deps = { clock: servers.clock, random: seededRandom(1), log: silentLog }
  const reader = new Informer(configMap, client(second, 'reader').of(configMap), deps, { namespace: 'default' })
  reader.onChange(({ key }) => seen.push(key.slice('default/'.length)))
  tasks.start('reader', (signal) => reader.run(signal))
  await servers.clock.advance('1s')
  const begin = servers.position
  seen.length = 0
  const written: string[] = []
  for (let index = 0; index < 4; index++) {
    const writer = index % 2 === 0 ? first : second
    await client(writer, 'writer')
      .of(configMap)
      .create({ metadata: { name: `m${index}` } }, 'default', ctx)
    written.push(`m${index}`)
  }
  await servers.clock.advance('1s')
  deepEqual(seen, written, 'in order, each once')
  return {
    heading: 'Writes in turns',
    text: 'A writer uses both servers in turns. A reader that watches through the second one receives each change once, in the order of the revisions.',
    diagram: servers.messages(begin, 'configmaps', 'writer', 'reader'),
  }
}

async function lagging(): Promise<Section> {
  await using two = await startTwo()
  const { servers, first, second } = two
  second.store.lagMs = 2_000
  const begin = servers.position
  await client(first, 'writer')
    .of(configMap)
    .create({ metadata: { name: 'a' } }, 'default', ctx)
  const cached = await client(second, 'cached reader')
    .of(configMap)
    .list({ namespace: 'default', resourceVersion: '0' }, ctx)
  equal(
    cached.items.some(({ metadata }) => metadata.name === 'a'),
    false,
    'any state is accepted',
  )
  const startMs = servers.clock.nowMs()
  const reading = client(second, 'reader').of(configMap).get('a', 'default', ctx)
  await servers.clock.advance('3s')
  equal((await reading).metadata.name, 'a')
  const lastMs = [...servers.merged(begin).events()].findLast(({ from }) => from === 'reader')?.endMs ?? 0
  equal(lastMs - startMs, 2_000, 'the read waited')
  return {
    heading: 'The other server lags',
    text: 'Changes reach the second server two seconds late. A list with resourceVersion 0 accepts any state and does not contain the new object. A read without a resourceVersion waits until the server has what was written before it.',
    diagram: servers.messages(begin, 'configmaps', 'writer', 'reader', 'cached reader'),
  }
}

async function restarted(): Promise<Section> {
  await using two = await startTwo()
  const { servers, first, second } = two
  const deployments = client(first, 'kubectl').of(deployment)
  await deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await servers.clock.advance('10s')
  await servers.kill(second)
  await deployments.patch('web', 'default', { spec: { replicas: 2 } }, 'merge', ctx)
  await servers.clock.advance('5s')
  second.cluster.start()
  await servers.clock.advance('40s')
  equal((await client(first, 'kubectl').of(pod).list({ namespace: 'default' }, ctx)).items.length, 2)
  const flow = since(servers.flow('deployments', 'web'), 'patch deployments web')
  return {
    heading: 'The other server restarts',
    text: 'The second process is killed. A Deployment is scaled through the first server meanwhile. After the restart, the controllers list the objects and create the missing pod, once.',
    diagram: excerpt(flow, /patch deployments web/, /controller\/replica-set ──► API Server 2: create pods/),
  }
}

test('29 two API servers', async () => {
  await comparePage(
    '29-two-api-servers',
    'Two API servers',
    [await acrossServers(), await inTurns(), await lagging(), await restarted()],
    [
      [
        'permissions that are granted or revoked through one server',
        'they take effect at the other',
        'test/api/two-api-servers.test.ts',
      ],
      [
        'three servers on real etcd, with kills and hanging processes',
        'what clients observe is linearizable, and watches are complete',
        'test/histories/histories.test.ts',
      ],
    ],
  )
})
