// Flow 18: deletion of a pod: it is removed from its Service, its containers get their grace period, then it is
// removed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, endpointSlice, pod, service, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }

async function start(container: object = {}, runsOnMs = 3_000): Promise<TestCluster> {
  const stubborn = ({
    terminated,
    clock,
  }: {
    terminated: AbortSignal
    clock: { sleep(ms: number, signal: AbortSignal): Promise<void> }
  }) =>
    new Promise<number>((resolve) =>
      terminated.addEventListener('abort', () => void clock.sleep(runsOnMs, ctx.signal).then(() => resolve(0))),
    )
  const cluster = await startCluster({ simulation: { images: { stubborn } } })
  await cluster.client
    .of(service)
    .create({ metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } }, 'default', ctx)
  const spec = { containers: [{ name: 'c', image: 'stubborn', ...container }], terminationGracePeriodSeconds: 10 }
  await cluster.client.of(pod).create({ metadata: { name: 'web', labels }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  return cluster
}

const endpointsOf = async ({ client }: TestCluster) =>
  (await client.of(endpointSlice).list({ namespace: 'default' }, ctx)).items
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
    .flatMap(({ endpoints }) =>
      (endpoints ?? []).map(({ conditions }) => [conditions.ready, conditions.serving, conditions.terminating]),
    )

test('18 deletion', async () => {
  await using cluster = await start()
  const pods = cluster.client.of(pod)
  deepEqual(await endpointsOf(cluster), [[true, true, false]])
  await pods.delete('web', 'default', {}, ctx)
  await cluster.clock.advance('1s')
  equal((await pods.get('web', 'default', ctx)).metadata.deletionGracePeriodSeconds, 10)
  deepEqual(
    (await endpointsOf(cluster)).map(([isReady]) => isReady),
    [false],
    'traffic goes elsewhere',
  )
  await cluster.clock.advance('5s')
  equal(await pods.find('web', 'default', ctx), undefined)
  deepEqual(await endpointsOf(cluster), [])
  const flow = cluster.flow(pod, 'web')
  const ended = since(flow, 'delete pods web')
  inOrder(
    ended,
    /API Server ══► Store: put pod web/,
    /API Server --► controller\/endpoint-slice: MODIFIED pods web/,
    /controller\/endpoint-slice ──► API Server: update endpointslices/,
    /kubelet\/node-0 ──► Runtime: stop container c/,
  )

  const preStop = { sleep: { seconds: 4 } }
  await using killed = await start({ lifecycle: { preStop } }, 60_000)
  await killed.client.of(pod).delete('web', 'default', {}, ctx)
  await killed.clock.advance('9s')
  equal(
    (await killed.client.of(pod).get('web', 'default', ctx)).status.phase,
    'Running',
    'the hook is part of its time',
  )
  await killed.clock.advance('2s')
  equal(await killed.client.of(pod).find('web', 'default', ctx), undefined, 'who does not end in time is ended')
  const late = since(killed.flow(pod, 'web'), 'delete pods web')
  inOrder(late, /Runtime: preStop hook of container c/, /Runtime: stop container c/, /Runtime: remove sandbox/)

  await using forced = await start()
  await forced.client.of(pod).delete('web', 'default', { gracePeriodSeconds: 0 }, ctx)
  equal(await forced.client.of(pod).find('web', 'default', ctx), undefined, 'by force: at once')
  await forced.clock.advance('10s')
  const atOnce = since(forced.flow(pod, 'web'), 'delete pods web')
  await using unreachable = await start()
  await unreachable.kill('kubelet/node-0')
  await unreachable.client.of(pod).delete('web', 'default', {}, ctx)
  await unreachable.clock.advance('5m')
  equal(
    (await unreachable.client.of(pod).get('web', 'default', ctx)).metadata.deletionTimestamp !== undefined,
    true,
    'it is unknown whether it still runs',
  )
  unreachable.start('kubelet/node-0')
  await unreachable.clock.advance('1m')
  equal(await unreachable.client.of(pod).find('web', 'default', ctx), undefined, 'the node is back, and ends it')
  const held = since(unreachable.flow(pod, 'web'), 'delete pods web')

  await comparePage(
    '18-deletion',
    'Deletion',
    [
      {
        heading: 'Graceful deletion',
        text: 'The pod is marked as deleted, its endpoint becomes not ready, the container is stopped within its grace period, and then the pod is removed.',
        diagram: excerpt(
          ended,
          /delete pods web/,
          /Store: (put|delete) (pod|endpointslice) web/,
          /controller\/endpoint-slice ──►/,
          /Runtime: (stop|remove)/,
        ),
      },
      {
        heading: 'A container that ignores SIGTERM',
        text: 'Its preStop hook takes four of the ten seconds; then it gets SIGTERM and does not exit. At the end of the grace period the runtime kills it; only then does the stop call return.',
        diagram: excerpt(late, /delete pods web/, /Store: (put|delete) pod web/, /──► Runtime/),
      },
      {
        heading: 'Forced deletion',
        text: 'The object is removed immediately without waiting for the node. The kubelet stops the containers when it receives the deletion.',
        diagram: excerpt(
          atOnce,
          /delete pods web/,
          /Store: delete pod web/,
          /controller\/endpoint-slice ──►/,
          /──► Runtime/,
        ),
      },
      {
        heading: 'An unreachable node',
        text: 'The pod is marked as deleted and its endpoint becomes not ready, but the state of the container is unknown. The pod remains until the kubelet is back, five minutes later, and has stopped it.',
        diagram: excerpt(
          held,
          /delete pods web/,
          /Store: (put|delete) pod web/,
          /controller\/endpoint-slice ──►/,
          /Runtime: (stop|remove)/,
        ),
      },
    ],
    [
      [
        'the pod has volumes',
        'they are unmounted when its containers have exited',
        'src/kubelet/volumes/volumes.test.ts',
        'test/containers/volumes.test.ts',
      ],
    ],
  )
})
