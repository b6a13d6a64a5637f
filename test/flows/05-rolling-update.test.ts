// Flow 05: a rolling update, one that is stuck, and its rollback.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image }], terminationGracePeriodSeconds: 0 },
})
const rollTo = ({ client }: TestCluster, image: string) =>
  client.of(deployment).patch('web', 'default', { spec: { template: template(image) } }, 'strategic', ctx)
const ready = async ({ client }: TestCluster) =>
  (await client.of(pod).list({ namespace: 'default' }, ctx)).items
    .filter(({ status }) => status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'))
    .map(({ spec }) => spec.containers[0]?.image)
    .toSorted()

async function start(): Promise<TestCluster> {
  const cluster = await startCluster({ simulation: { startMs: 100, images: { broken: 'missing' } } })
  const spec = {
    replicas: 2,
    progressDeadlineSeconds: 30,
    selector: { matchLabels: labels },
    template: template('image:1'),
  }
  await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  return cluster
}

test('05 rolling update', async () => {
  await using cluster = await start()
  await rollTo(cluster, 'image:2')
  await cluster.clock.advance('20s')
  deepEqual(await ready(cluster), ['image:2', 'image:2'])
  const flow = cluster.flow(deployment, 'web')
  const rolled = since(flow, 'patch deployments web')
  inOrder(
    rolled,
    /API Server --► controller\/deployment: MODIFIED deployments web/,
    /controller\/deployment ──► API Server: create replicasets web-\w+ → 201/,
    /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/,
    /scheduler ──► API Server: create pods\/binding/,
    /kubelet\/node-0 ──► API Server: patch pods\/status/,
    /controller\/replica-set ──► API Server: update replicasets\/status/,
    /controller\/deployment ──► API Server: update replicasets web-\w+ → 200/,
    /controller\/replica-set ──► API Server: delete pods web-\w+-\w+ → 200/,
  )

  await rollTo(cluster, 'broken')
  await cluster.clock.advance('1m')
  const stuck = await cluster.client.of(deployment).get('web', 'default', ctx)
  equal(stuck.status.conditions?.find(({ type }) => type === 'Progressing')?.reason, 'ProgressDeadlineExceeded')
  deepEqual(await ready(cluster), ['image:2', 'image:2'], 'the old pods serve')
  const broken = since(cluster.flow(deployment, 'web'), 'test ──► API Server: patch deployments web', 'last')
  await rollTo(cluster, 'image:2')
  await cluster.clock.advance('20s')
  deepEqual(await ready(cluster), ['image:2', 'image:2'])
  equal((await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items.length, 2)
  const back = cluster.flow(deployment, 'web')
  const undone = since(back, 'test ──► API Server: patch deployments web', 'last')

  const setPaused = (paused: boolean) =>
    cluster.client.of(deployment).patch('web', 'default', { spec: { paused } }, 'merge', ctx)
  await setPaused(true)
  await rollTo(cluster, 'image:3')
  await cluster.clock.advance('10s')
  deepEqual(await ready(cluster), ['image:2', 'image:2'], 'a paused rollout waits')
  await setPaused(false)
  await cluster.clock.advance('20s')
  deepEqual(await ready(cluster), ['image:3', 'image:3'])
  const resumed = since(cluster.flow(deployment, 'web'), 'test ──► API Server: patch deployments web', 'last')

  const arrows = [
    /patch deployments web/,
    /controller\/deployment ──► API Server: (create|update) replicasets/,
    /controller\/replica-set ──► API Server: (create|delete) pods/,
  ]
  await comparePage(
    '05-rolling-update',
    'Rolling update',
    [
      {
        heading: 'A new image',
        text: 'Two replicas with a surge of one: the new ReplicaSet grows by the surge, and the old one shrinks as new pods become available.',
        diagram: excerpt(rolled, ...arrows),
      },
      {
        heading: 'An image that does not exist',
        text: 'The new pod never becomes ready, so no old pod is deleted. After the progress deadline of this Deployment, thirty seconds, the controller sets `Progressing` to `False` with the reason `ProgressDeadlineExceeded`.',
        diagram: excerpt(broken, ...arrows, /Runtime: pull image/, /update deployments\/status/),
      },
      {
        heading: 'Rollback',
        text: 'The rollback deletes the new pod.',
        diagram: excerpt(undone, ...arrows),
      },
      {
        heading: 'Resumed',
        text: 'The Deployment was paused and got another image ten seconds ago without effect. When it is resumed, the update begins.',
        diagram: excerpt(resumed, /create replicasets/, /create pods web/),
      },
    ],
    [
      [
        '`kubectl rollout status`, `undo`, `history`, `pause` and `resume`',
        'as upstream',
        'test/controllers/kubectl.test.ts',
      ],
      [
        'the whole process is killed in the middle',
        'the next start completes it',
        'test/end-to-end/rollout-kill.test.ts',
      ],
    ],
  )
})
