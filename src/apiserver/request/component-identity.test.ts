// A component's name in the flow record needs the component's credentials.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { senderPrefix } from '../../api/coxswain/v1/flow-protocol.ts'
import { clientOf, mayIdentifyAs } from './component-identity.ts'
import { userWithName } from './request.ts'
import { startServer } from '../server.harness.ts'

const agents: [userAgent: string, sender: string, claimed?: string][] = [
  ['', 'client'],
  ['kubectl/v1.36.4 (linux/amd64)', 'kubectl'],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', 'browser'],
  ['kube-scheduler/v1.36.4', 'kube-scheduler'],
  ['kubelet/v1.36.4 (linux/amd64)', 'kubelet'],
  [`${senderPrefix}coxswain why`, 'coxswain why'],
  [`${senderPrefix}test`, 'test'],
  ['scheduler/1', 'client', 'scheduler'],
  ['SCHEDULER', 'client', 'SCHEDULER'],
  ['apiserver/1', 'client', 'apiserver'],
  [`${senderPrefix}API Server`, 'client', 'API Server'],
  [`${senderPrefix}scheduler`, 'client', 'scheduler'],
  [`${senderPrefix}controllers`, 'client', 'controllers'],
  [`${senderPrefix}controller/deployment`, 'client', 'controller/deployment'],
  [`${senderPrefix}kubelet/n1`, 'client', 'kubelet/n1'],
]
for (const [userAgent, sender, claimedSender] of agents)
  test(`the User-Agent ${JSON.stringify(userAgent)} names ${sender}`, () => {
    // The second time, the client is known.
    for (let times = 0; times < 2; times++) {
      const { agent: _, ...senders } = clientOf(userAgent)
      deepEqual(senders, claimedSender === undefined ? { sender } : { sender, claimedSender })
    }
  })

test('a client is known by its whole User-Agent', () => {
  equal(clientOf('kubectl-a/v1').agent, 'kubectl-a')
  equal(clientOf('kubectl-b/v1').agent, 'kubectl-b')
  const long = `program/${'x'.repeat(600)}`
  equal(clientOf(long).agent, 'program')
  notEqual(clientOf(long), clientOf(long))
})

const speakers: [user: string, as: string, may: boolean][] = [
  ['system:kube-scheduler', 'scheduler', true],
  ['anna', 'scheduler', false],
  ['system:kube-scheduler', 'controllers', false],
  ['system:kube-controller-manager', 'controllers', true],
  ['system:kube-controller-manager', 'controller/deployment', true],
  ['system:serviceaccount:kube-system:deployment-controller', 'controller/deployment', true],
  ['system:serviceaccount:default:deployment-controller', 'controller/deployment', false],
  ['system:node:n1', 'kubelet/n1', true],
  ['system:node:n1', 'kubelet/n2', false],
  ['system:node:n1', 'proxy/n1', true],
  ['system:node:n1', 'network-policy/n1', true],
  ['system:node:n1', 'local-path/n1', true],
  ['system:node:n1', 'proxy/n2', false],
  ['system:node:n1', 'proxy', false],
  ['system:node:n1', 'announcer/n1', false],
  ['system:node:n1', 'kubectl', false],
  ['system:bootstrap:abcdef', 'kubelet/n1', false],
  ['system:apiserver', 'apiserver', true],
  ['anna', 'API Server', false],
  ['anna', 'kubectl', true],
]
for (const [user, as, may] of speakers)
  test(`${user} is ${may ? '' : 'not '}recorded as ${as}`, () => equal(mayIdentifyAs(userWithName(user), as), may))

test('administrators are recorded under the name that they send', () =>
  equal(mayIdentifyAs(userWithName('root', ['system:masters']), 'scheduler'), true))

test('a forged name is not recorded in calls, watches or rejections', async () => {
  await using server = await startServer()
  const maps = '/api/v1/namespaces/default/configmaps'
  const agent = { 'user-agent': `${senderPrefix}scheduler` }
  const callers = () => new Set([...server.flow.events()].flatMap(({ from, to }) => [from, to]))
  await server.call('POST', maps, { metadata: { name: 'a' } }, { ...agent, as: 'mallory' })
  await server.call('GET', `${maps}/a`, undefined, { ...agent, anonymous: '' })
  await server.watch(`${maps}?watch=1`, 1, { ...agent, as: 'mallory' })
  equal(callers().has('scheduler'), false)
  await server.call('POST', maps, { metadata: { name: 'b' } }, { ...agent, as: 'system:kube-scheduler' })
  equal(callers().has('scheduler'), true)
})
