// Flow 01: a pod from its creation to ready, and what happens when its image is missing or nothing fits.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

const ctx = context(new AbortController().signal)

const create = ({ client }: TestCluster, name: string, image: string, resources: object = {}) => {
  const spec = {
    initContainers: [{ name: 'first', image: 'once' }],
    containers: [{ name: 'web', image, resources }],
  }
  return client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
}
const find = ({ client }: TestCluster, name: string) => client.of(pod).get(name, 'default', ctx)

test('01 pod creation', async () => {
  const images = { once: () => Promise.resolve(0), gone: 'missing' as const }
  await using cluster = await startCluster({ simulation: { images } })
  await create(cluster, 'web', 'nginx')
  await cluster.clock.advance('10s')
  const { status } = await find(cluster, 'web')
  equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
  const flow = cluster.flow(pod, 'web')
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
  await cluster.clock.advance('30s')
  const waiting = async () => (await find(cluster, 'imageless')).status.containerStatuses?.[0]?.state?.waiting?.reason
  match((await waiting()) ?? '', /ErrImagePull|ImagePullBackOff/)

  await create(cluster, 'huge', 'nginx', { requests: { cpu: '64' } })
  await cluster.clock.advance('10s')
  const unscheduled = (await find(cluster, 'huge')).status.conditions?.find(({ type }) => type === 'PodScheduled')
  match(unscheduled?.message ?? '', /0\/1 nodes are available: 1 Insufficient cpu/)
  await comparePage('01-pod-creation', 'Pod creation', [
    {
      heading: 'From apply to running',
      text: 'The pod is stored as Pending, the scheduler binds it to a node, the kubelet of that node makes its sandbox, runs its init container and then its container, and tells each step.',
      diagram: excerpt(
        flow,
        /test ──► API Server/,
        /(put|delete) pod/,
        /scheduler (···|──►)/,
        /kubelet\/node-0 ···►/,
        /──► Runtime/,
      ),
    },
  ])
})
