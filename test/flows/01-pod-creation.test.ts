// Flow 01: a pod from its creation to ready, and the cases of a missing image, an exiting container and no node that
// fits. test/end-to-end/restart.test.ts kills each component between any two arrows.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context, node, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

const ctx = context(new AbortController().signal)

const create = ({ client }: TestCluster, name: string, image: string, more: object = {}) => {
  const spec = { containers: [{ name: 'web', image }], ...more }
  return client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
}
const find = ({ client }: TestCluster, name: string) => client.of(pod).get(name, 'default', ctx)

test('01 pod creation', async () => {
  const images = { once: () => Promise.resolve(0), crash: () => Promise.resolve(3), gone: 'missing' as const }
  await using cluster = await startCluster({ simulation: { images } })
  await create(cluster, 'web', 'nginx', { initContainers: [{ name: 'first', image: 'once' }] })
  await cluster.clock.advance('10s')
  const { status } = await find(cluster, 'web')
  equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
  const flow = cluster.flow(pod, 'web', 'default', { fold: true, stages: true })
  inOrder(
    flow,
    /test ──► API Server: create pods web → 201/,
    /API Server ══► Store: put pod web/,
    /API Server --► scheduler: ADDED pods web/,
    /scheduler ──► API Server: create pods\/binding web → 201/,
    /API Server --► kubelet\/node-0: \w+ pods web/,
    /kubelet\/node-0 ──► Runtime: run sandbox web/,
    /kubelet\/node-0 ──► Runtime: start container first/,
    /kubelet\/node-0 ──► Runtime: start container web/,
  )
  match(flow, /kubelet\/node-0 ──► API Server: patch pods\/status web → 200/)

  await create(cluster, 'imageless', 'gone')
  await create(cluster, 'crashing', 'crash')
  await create(cluster, 'choosy', 'nginx', { nodeSelector: { disk: 'ssd' } })
  await cluster.clock.advance('50s')
  const waiting = async (name: string) =>
    (await find(cluster, name)).status.containerStatuses?.[0]?.state.waiting?.reason
  match((await waiting('imageless')) ?? '', /ErrImagePull|ImagePullBackOff/)
  equal(await waiting('crashing'), 'CrashLoopBackOff')
  const unscheduled = (await find(cluster, 'choosy')).status.conditions?.find(({ type }) => type === 'PodScheduled')
  match(unscheduled?.message ?? '', /0\/1 nodes are available: 1 node\(s\) didn't match Pod's node affinity\/selector/)
  await cluster.client.of(node).patch('node-0', '', { metadata: { labels: { disk: 'ssd' } } }, 'merge', ctx)
  await cluster.clock.advance('5s')
  equal((await find(cluster, 'choosy')).status.phase, 'Running')

  const [imageless, crashing, choosy] = ['imageless', 'crashing', 'choosy'].map((name) => cluster.flow(pod, name))

  for (const component of ['scheduler', 'kubelet/node-0']) await cluster.kill(component)
  await create(cluster, 'patient', 'nginx')
  for (const component of ['scheduler', 'kubelet/node-0']) {
    await cluster.clock.advance('10s')
    cluster.start(component)
  }
  await cluster.clock.advance('10s')
  equal((await find(cluster, 'patient')).status.phase, 'Running')

  const arrows = [
    /test ──► API Server/,
    /(put|delete) pod/,
    /scheduler (···|──►)/,
    /kubelet\/node-0 ···►/,
    /──► Runtime/,
  ]
  // Only the stages of the first call.
  const stages = /^.{11} {2}API Server ··· API Server/
  await comparePage(
    '01-pod-creation',
    'Pod creation',
    [
      {
        heading: 'From apply to running',
        text: 'The API server stores the pod as Pending, the scheduler binds it to a node, and the kubelet of that node creates its sandbox, runs its init container and then its container, and reports each step.',
        diagram: excerpt(flow, stages, ...arrows),
      },
      {
        heading: 'A missing image',
        text: 'The pull fails (ErrImagePull) and is retried after 10 s, 20 s and so on, up to five minutes (ImagePullBackOff in between).',
        diagram: excerpt(imageless ?? '', /kubelet\/node-0 ···►/, /──► Runtime/, /patch pods\/status/),
      },
      {
        heading: 'A container that keeps exiting',
        text: 'It is restarted immediately, then after 10 s, 20 s and so on, up to five minutes (CrashLoopBackOff in between).',
        diagram: excerpt(crashing ?? '', /kubelet\/node-0 ···►/, /──► Runtime/, /patch pods\/status/),
      },
      {
        heading: 'No node fits, until one does',
        text: 'The scheduler reports the reason for each node and waits. A new label of the node triggers another attempt, because one of the plugins rejected the node for lack of it.',
        diagram: excerpt(choosy ?? '', ...arrows, /test ──► API Server: patch nodes/),
      },
      {
        heading: 'Components that are down',
        text: 'The scheduler is down when the pod is created, and the kubelet is down when it is bound. Each continues after its restart: it lists objects and finds what is to be done.',
        diagram: excerpt(cluster.flow(pod, 'patient'), ...arrows),
      },
    ],
    [
      [
        'a component is killed between any two arrows',
        'the pod runs once in the end',
        'test/end-to-end/restart.test.ts',
      ],
    ],
  )
})
