// Flow 22: one of three API servers is killed: clients behind a load balancer continue with another one, watches resume, and
// another process becomes the leader.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { StatusError } from '../../src/api/errors/status-error.ts'
import { Informer } from '../../src/client/informer/informer.ts'
import { configMap, deployment, lease, pod } from '../../src/cluster/index.ts'
import { comparePage, excerpt, since, type Section } from './page.ts'
import { ctx, SeveralServers } from './several-servers.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { replicas: 1, selector: { matchLabels: labels }, template }

async function startThree(hasComponents: boolean): Promise<SeveralServers> {
  const servers = new SeveralServers()
  for (let index = 0; index < 3; index++) await servers.start({ hasComponents, nodes: 1 })
  await servers.clock.advance('30s')
  return servers
}

async function killed(): Promise<Section> {
  await using servers = await startThree(false)
  const { clock } = servers
  await using tasks = new TaskGroup()
  const reader = servers.balancedClient('reader').of(configMap)
  const writer = servers.balancedClient('writer').of(configMap)
  const seen: string[] = []
  const deps = { clock, random: seededRandom(1), log: silentLog }
  const informer = new Informer(configMap, reader, deps, { namespace: 'default' })
  informer.onChange(({ key }) => seen.push(key.slice('default/'.length)))
  const begin = servers.position
  tasks.start('reader', (signal) => informer.run(signal))
  await clock.advance('1s')
  const create = (name: string) => writer.create({ metadata: { name } }, 'default', ctx)
  await create('a')
  await clock.advance('1s')
  await servers.kill(servers.at(0))
  await create('b')
  await clock.advance('5s')
  await servers.kill(servers.at(1))
  await create('c')
  await clock.advance('5s')
  deepEqual(seen, ['a', 'b', 'c'], 'in order, each once')
  const diagram = servers.messages(begin, 'configmaps', 'writer', 'reader')
  equal(diagram.match(/reader ──► API Server \d: list/g)?.length, 1, 'the reader does not list again')
  return {
    heading: 'Two servers are killed, one after the other',
    text: 'Clients reach the servers through a load balancer. When a server is killed, the balancer sends the next requests to another one. The watch of the reader ends, and the reader resumes it there from the last revision that it has received, without a list.',
    diagram,
  }
}

async function unanswered(): Promise<Section> {
  await using servers = await startThree(false)
  const { clock } = servers
  const writer = servers.balancedClient('writer').of(configMap)
  const create = () => writer.create({ metadata: { name: 'a' } }, 'default', ctx)
  servers.at(0).store.acknowledgeMs = 1_000
  const begin = servers.position
  const lost = rejects(create())
  await clock.advance('500ms')
  await servers.kill(servers.at(0))
  await lost
  await rejects(create(), (error) => error instanceof StatusError && error.reason === 'AlreadyExists')
  equal((await writer.get('a', 'default', ctx)).metadata.name, 'a')
  return {
    heading: 'Killed before it responds',
    text: 'The store has the object, but the server is killed before it responds. The client does not know whether the object was created. It tries again with another server, which knows that the object exists (409), and reads it.',
    diagram: servers.messages(begin, 'configmaps', 'writer'),
  }
}

async function leads(): Promise<Section> {
  await using servers = await startThree(true)
  const { clock } = servers
  const client = servers.balancedClient('kubectl')
  const holder = async () =>
    (await client.of(lease).get('kube-controller-manager', 'kube-system', ctx)).spec.holderIdentity ?? ''
  equal((await holder()).startsWith('process-1'), true)
  await servers.kill(servers.at(0))
  await client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  const count = async () => (await client.of(pod).list({ namespace: 'default' }, ctx)).items.length
  await clock.advance('9s')
  equal(await count(), 0, 'no controller acts')
  await clock.advance('50s')
  equal(await count(), 1)
  const next = Number((await holder()).charAt('process-'.length))
  return {
    heading: 'The killed process was the leader',
    text: 'The process of the first server also ran the controllers and the scheduler. A Deployment is created through the second server. It waits until another process has acquired the leases, which it may fifteen seconds after the last renewal.',
    diagram: excerpt(
      since(servers.flow('deployments', 'web'), 'create deployments web'),
      /kubectl ──► API Server 2: create deployments web/,
      new RegExp(`controller/replica-set ──► API Server ${next}: create pods`),
      new RegExp(`scheduler ──► API Server \\d: create pods/binding`),
    ),
  }
}

test('22 API server failure', async () => {
  await comparePage(
    '22-api-server-failure',
    'API server failure',
    [await killed(), await unanswered(), await leads()],
    [
      [
        'API servers on real etcd are killed and hang under load',
        'what clients observe is linearizable, and watches have no gap and no duplicate',
        'test/histories/histories.test.ts',
      ],
      [
        'a process that leads hangs, is stopped or is killed',
        'another one takes over, and nothing is done twice',
        'test/end-to-end/leader-election.test.ts',
      ],
    ],
  )
})
