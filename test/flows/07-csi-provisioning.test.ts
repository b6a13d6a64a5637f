// Flow 07: a claim that waits for its first pod gets a volume of a CSI driver, which is attached, staged and published, and
// removed with the claim. At every call, the driver exits, and the component that waits for the call is killed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  startCluster,
  storageClass,
  volumeAttachment,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)

async function startWithClass(): Promise<TestCluster> {
  const cluster = await startCluster({ csi: { restartMs: 2_000 } })
  const volumeBindingMode = 'WaitForFirstConsumer'
  await cluster.client
    .of(storageClass)
    .create({ metadata: { name: 'csi' }, provisioner: 'csi.coxswain.dev', volumeBindingMode }, ctx)
  // The driver registers within seconds.
  await cluster.clock.advance('10s')
  return cluster
}

async function claim({ client, clock }: TestCluster): Promise<void> {
  const resources = { requests: { storage: '1Gi' } }
  const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName: 'csi' }
  await client.of(persistentVolumeClaim).create({ metadata: { name: 'data' }, spec }, ctx)
  await clock.advance('5s')
}

async function run({ client }: TestCluster, name: string): Promise<void> {
  const spec = {
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    terminationGracePeriodSeconds: 1,
  }
  await client.of(pod).create({ metadata: { name }, spec }, ctx)
}

const isRunning = async ({ client }: TestCluster, name: string) =>
  (await client.of(pod).get(name, ctx)).status.phase === 'Running'

/** Without uids and hashes. */
const named = (flow: string): string =>
  flow
    .replaceAll(/pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'pvc-UID')
    .replaceAll(/csi-[0-9a-f]{64}/g, 'csi-HASH')

/** Everything that the volume has left. */
async function leftovers({ client, csi }: TestCluster): Promise<readonly number[]> {
  const { items: volumes } = await client.of(persistentVolume).list({}, ctx)
  const { items: attachments } = await client.of(volumeAttachment).list({}, ctx)
  const { records } = csi
  return [volumes, attachments]
    .map(({ length }) => length)
    .concat([records.volumes, records.staged, records.published].map(({ size }) => size))
}
const nothing = [0, 0, 0, 0, 0]

test('07 csi provisioning', async () => {
  await using cluster = await startWithClass()
  const { client, clock } = cluster
  await claim(cluster)
  equal((await client.of(persistentVolumeClaim).get('data', ctx)).status.phase, 'Pending')
  await run(cluster, 'web')
  await clock.advance('1m')
  equal(await isRunning(cluster, 'web'), true)
  const provisioning = named(since(cluster.flow(pod, 'web'), 'create pods web'))
  inOrder(
    provisioning,
    /scheduler ──► API Server: patch persistentvolumeclaims data → 200/,
    /persistent-volume-binder ──► API Server: update persistentvolumeclaims data → 200/,
    /csi-sidecars ──► csi\/csi\.coxswain\.dev: CreateVolume/,
    /csi-sidecars ──► API Server: create persistentvolumes pvc-/,
    /scheduler ──► API Server: create pods\/binding web → 201/,
  )
  const [volume] = cluster.csi.records.volumes.keys()
  await cluster.exec('web', ['sh', '-c', 'echo kept > /data/file'])
  await client.of(pod).delete('web', 'default', {}, ctx)
  await clock.advance('30s')
  await run(cluster, 'next')
  await clock.advance('1m')
  equal((await cluster.exec('next', ['cat', '/data/file'])).stdout, 'kept\n')
  deepEqual(
    cluster.csi.calls.map(({ method }) => method).filter((method) => method.endsWith('Volume')),
    [
      'CreateVolume',
      ...['ControllerPublishVolume', 'NodeStageVolume', 'NodePublishVolume'],
      ...['NodeUnpublishVolume', 'NodeUnstageVolume', 'ControllerUnpublishVolume'],
      ...['ControllerPublishVolume', 'NodeStageVolume', 'NodePublishVolume'],
    ],
  )
  await client.of(pod).delete('next', 'default', {}, ctx)
  await client.of(persistentVolumeClaim).delete('data', {}, ctx)
  await clock.advance('1m')
  deepEqual(await leftovers(cluster), nothing)
  const removal = named(since(cluster.flow(persistentVolume, volume ?? ''), 'delete pods next'))
  inOrder(
    removal,
    /persistent-volume-binder ──► API Server: update persistentvolumes\/status/,
    /csi-sidecars ──► csi\/csi\.coxswain\.dev: ControllerUnpublishVolume/,
    /csi-sidecars ──► csi\/csi\.coxswain\.dev: DeleteVolume/,
  )
  const steps = [
    /test ──► API Server/,
    /(scheduler|binder|sidecars|attach-detach|protection) ──►/,
    /kubelet\/node-0 ──► csi/,
    /Runtime: (run sandbox|start container|remove sandbox)/,
  ]
  await comparePage(
    '07-csi-provisioning',
    'CSI provisioning',
    [
      {
        heading: 'A pod uses a claim that waits for it',
        text: 'The scheduler selects the node and notes it on the claim; the binder requests a volume from the provisioner, which calls the driver and creates the PersistentVolume. The pod is bound to its node when the claim is bound. The attach/detach controller, the attacher and the kubelet then make the volume available.',
        diagram: excerpt(provisioning, ...steps),
      },
      {
        heading: 'The pod and the claim are deleted',
        text: 'The claim is kept until no pod uses it; then the binder releases the volume. When the kubelet has unmounted the volume, it is detached. The driver deletes it, and its object follows.',
        diagram: excerpt(removal, ...steps),
      },
    ],
    [
      [
        'the driver exits at a call',
        'the call is repeated; the data is intact and nothing is left',
        'test/flows/07-csi-provisioning.test.ts',
      ],
      [
        'the kubelet, the controllers, the scheduler or a sidecar is killed at an arrow',
        'it continues where it was',
        'test/flows/07-csi-provisioning.test.ts',
        'test/csi/restarts.test.ts',
        'test/csi/mounted-restarts.test.ts',
      ],
      [
        'the driver rejects a call',
        'events and conditions show the error',
        'src/storage/csi/provisioner/provisioner.test.ts',
        'src/storage/csi/attacher/attacher.test.ts',
      ],
      [
        'snapshots, clones, expansion',
        'the sidecars call the driver',
        'src/storage/csi/snapshots/snapshots.test.ts',
        'src/storage/csi/resizer/resizer.test.ts',
      ],
    ],
  )
})

const kubelet = 'kubelet/node-0'
const sidecars = 'csi-sidecars'
const calls = [
  ['CreateVolume', sidecars],
  ['ControllerPublishVolume', sidecars],
  ['NodeStageVolume', kubelet],
  ['NodePublishVolume', kubelet],
  ['NodeUnpublishVolume', kubelet],
  ['NodeUnstageVolume', kubelet],
  ['ControllerUnpublishVolume', sidecars],
  ['DeleteVolume', sidecars],
] as const

/** The whole life of a volume, with a fault in one call. The component is killed while it waits for the call. */
async function live(cluster: TestCluster, killed: string | undefined): Promise<void> {
  const { client, clock } = cluster
  const settle = async () => {
    await clock.advance('30s')
    if (killed !== undefined) {
      await cluster.kill(killed)
      cluster.start(killed)
    }
    await clock.advance('5m')
  }
  await claim(cluster)
  await run(cluster, 'web')
  await settle()
  equal(await isRunning(cluster, 'web'), true)
  await cluster.exec('web', ['sh', '-c', 'echo kept > /data/file'])
  await client.of(pod).delete('web', 'default', {}, ctx)
  await settle()
  await run(cluster, 'next')
  await settle()
  equal((await cluster.exec('next', ['cat', '/data/file'])).stdout, 'kept\n')
  await client.of(pod).delete('next', 'default', {}, ctx)
  await client.of(persistentVolumeClaim).delete('data', {}, ctx)
  await settle()
  deepEqual(await leftovers(cluster), nothing)
}

for (const [method, component] of calls) {
  for (const when of ['before', 'after'] as const)
    test(`the driver exits ${when} ${method}`, async () => {
      await using cluster = await startWithClass()
      cluster.csi.inject({ method, when, action: { kind: 'exit' }, times: 1 })
      await live(cluster, undefined)
    })

  test(`${component} is killed during ${method}`, async () => {
    await using cluster = await startWithClass()
    cluster.csi.inject({ method, when: 'after', action: { kind: 'hang' }, times: 1 })
    await live(cluster, component)
  })
}
