// Flow 14: a volume of a bound claim is attached to the node of its pod, mounted, and detached after the pod; two pods of
// different nodes, and the loss of a node. test/csi/restarts.test.ts kills components at every arrow.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  event,
  node,
  persistentVolumeClaim,
  pod,
  startCluster,
  storageClass,
  volumeAttachment,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)

/** Two nodes, and a claim that is bound before any pod uses it. */
async function startWithClaim(): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: 2, csi: {} })
  await cluster.client.of(storageClass).create({ metadata: { name: 'csi' }, provisioner: 'csi.coxswain.dev' }, ctx)
  const resources = { requests: { storage: '1Gi' } }
  const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName: 'csi' }
  await cluster.client.of(persistentVolumeClaim).create({ metadata: { name: 'data' }, spec }, ctx)
  await cluster.clock.advance('30s')
  equal((await cluster.client.of(persistentVolumeClaim).get('data', ctx)).status.phase, 'Bound')
  return cluster
}

async function run({ client }: TestCluster, name: string, nodeName: string, more: object = {}): Promise<void> {
  const spec = {
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    nodeSelector: { 'kubernetes.io/hostname': nodeName },
    terminationGracePeriodSeconds: 1,
    ...more,
  }
  await client.of(pod).create({ metadata: { name }, spec }, ctx)
}

const phaseOf = async ({ client }: TestCluster, name: string) => (await client.of(pod).get(name, ctx)).status.phase

/** The nodes to which the storage system has attached the volume. */
const attachedTo = ({ csi }: TestCluster): string[] =>
  [...csi.records.volumes.values()].flatMap(({ attachments }) => Object.keys(attachments))

const warningsOf = async ({ client }: TestCluster, name: string): Promise<string[]> =>
  (await client.of(event).list({ namespace: 'default' }, ctx)).items
    .filter(({ involvedObject, type }) => involvedObject.name === name && type === 'Warning')
    .map(({ reason, message }) => `${reason}: ${message}`)

/** Without uids and hashes. */
const named = (flow: string): string =>
  flow
    .replaceAll(/pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'pvc-UID')
    .replaceAll(/csi-[0-9a-f]{64}/g, 'csi-HASH')

const steps = [
  /test ──► API Server: (create|delete) pods/,
  /(scheduler|attach-detach) ──► API Server: (?!create events)/,
  /sidecars ──► (csi|API Server: patch volumeattachments\/status)/,
  /kubelet\/node-\d ──► csi/,
  /kubelet\/node-\d ──► API Server: (update nodes\/status|delete pods)/,
  /Runtime: (run sandbox|start container|stop container)/,
]

test('14 volume attach and mount', async () => {
  await using cluster = await startWithClaim()
  const { client, clock } = cluster
  await run(cluster, 'web', 'node-0')
  await clock.advance('10s')
  equal(await phaseOf(cluster, 'web'), 'Running')
  deepEqual(attachedTo(cluster), ['node-0'])
  const attachment = (await client.of(volumeAttachment).list({}, ctx)).items[0]?.metadata.name ?? ''
  const started = named(since(cluster.flow(pod, 'web'), 'create pods web'))
  await cluster.exec('web', ['sh', '-c', 'echo kept > /data/file'])

  await run(cluster, 'other', 'node-1')
  await clock.advance('1m')
  equal(await phaseOf(cluster, 'other'), 'Pending')
  deepEqual(attachedTo(cluster), ['node-0'], 'the volume is attached to one node')
  match((await warningsOf(cluster, 'other')).join('\n'), /^FailedAttachVolume: .*already used by pod\(s\) web/m)

  await client.of(pod).delete('web', 'default', {}, ctx)
  await clock.advance('1m')
  equal(await phaseOf(cluster, 'other'), 'Running')
  deepEqual(attachedTo(cluster), ['node-1'])
  equal((await cluster.exec('other', ['cat', '/data/file'])).stdout, 'kept\n')
  const waiting = named(since(cluster.flow(pod, 'other'), 'create pods other'))
  const stopped = named(since(cluster.flow(pod, 'web'), 'delete pods web'))
  const detached = named(since(cluster.flow(volumeAttachment, attachment), 'update nodes/status node-0', 'last'))
  inOrder(
    started,
    /scheduler ──► API Server: create pods\/binding web/,
    /attach-detach ──► API Server: create volumeattachments/,
    /sidecars ──► csi\/csi\.coxswain\.dev: ControllerPublishVolume/,
    /attach-detach ──► API Server: patch nodes\/status node-0/,
    /kubelet\/node-0 ──► csi\/csi\.coxswain\.dev: NodeStageVolume/,
    /kubelet\/node-0 ──► csi\/csi\.coxswain\.dev: NodePublishVolume/,
    /Runtime: start container/,
  )
  inOrder(stopped, /Runtime: stop container/, /NodeUnpublishVolume/, /NodeUnstageVolume/)
  inOrder(detached, /delete volumeattachments/, /ControllerUnpublishVolume/, /ControllerPublishVolume/)

  const taken = await loseNode()
  await comparePage(
    '14-volume-attach',
    'Volume attach and mount',
    [
      {
        heading: 'A scheduled pod uses a bound claim',
        text: 'The attach/detach controller requests an attachment, which the attacher of the driver performs, and reports it in the status of the node. The kubelet waits for this report; then it stages and publishes the volume and starts the container.',
        diagram: excerpt(started, ...steps),
      },
      {
        heading: 'A pod on another node waits for the volume',
        text: 'A ReadWriteOnce volume is attached to one node. The second pod gets the event `FailedAttachVolume`, which names the first, and its kubelet waits.',
        diagram: excerpt(waiting, ...steps),
      },
      {
        heading: 'The first pod is deleted',
        text: 'When its container has stopped, the volume is unpublished and unstaged.',
        diagram: excerpt(stopped, ...steps),
      },
      {
        heading: 'The volume moves to the other node',
        text: 'The kubelet reports that the volume is not in use any more. The attach/detach controller detaches it, and attaches it to the other node when the attachment has been removed.',
        diagram: excerpt(detached, ...steps),
      },
      {
        heading: 'The node of a pod is lost',
        text: 'The node may still write to the volume, so it stays attached when its pod is deleted by force. Six minutes later it is detached nevertheless, and the pod on the other node uses it.',
        diagram: excerpt(taken, ...steps),
      },
    ],
    [
      [
        'a component or the driver is killed at an arrow',
        'it continues where it was; nothing is attached twice or left behind',
        'test/csi/restarts.test.ts',
        'test/csi/mounted-restarts.test.ts',
      ],
      [
        'the lost node has the taint out-of-service',
        'the volume is detached at once',
        'test/flows/14-volume-attach.test.ts',
      ],
      [
        'attachments compared with kube-controller-manager',
        '85 recorded scenarios',
        'test/attach-detach/attach-detach.test.ts',
      ],
    ],
  )
})

/** The node with the pod loses its power; its pod is deleted by force. Returns how the volume moved to the other node. */
async function loseNode() {
  await using cluster = await startWithClaim()
  const { client, clock, csi } = cluster
  await run(cluster, 'web', 'node-0')
  await clock.advance('10s')
  await cluster.exec('web', ['sh', '-c', 'echo kept > /data/file'])
  const [lost] = (await client.of(volumeAttachment).list({}, ctx)).items
  await cluster.powerOff('node-0')
  await clock.advance('2m')
  await client.of(pod).delete('web', 'default', { gracePeriodSeconds: 0 }, ctx)
  await run(cluster, 'other', 'node-1')
  await clock.advance('5m')
  deepEqual(attachedTo(cluster), ['node-0'], 'the lost node may still write to the volume')
  equal(await phaseOf(cluster, 'other'), 'Pending')
  await cluster.until(async () => (await phaseOf(cluster, 'other')) === 'Running', '2m')
  deepEqual(attachedTo(cluster), ['node-1'])
  deepEqual(
    csi.calls.map(({ method }) => method).filter((method) => /^Node.*publish|^Node.*stage/i.test(method)),
    ['NodeStageVolume', 'NodePublishVolume', 'NodeStageVolume', 'NodePublishVolume'],
    'the lost node released nothing',
  )
  equal((await cluster.exec('other', ['cat', '/data/file'])).stdout, 'kept\n')
  return named(since(cluster.flow(volumeAttachment, lost?.metadata.name ?? ''), 'delete volumeattachments'))
}

test('14: a volume of a node that is out of service is detached at once', async () => {
  await using cluster = await startWithClaim()
  const { client, clock } = cluster
  await run(cluster, 'web', 'node-0')
  await clock.advance('10s')
  await cluster.powerOff('node-0')
  await clock.advance('2m')
  await run(cluster, 'other', 'node-1')
  await clock.advance('1m')
  deepEqual(attachedTo(cluster), ['node-0'])
  const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }
  const { spec } = await client.of(node).get('node-0', '', ctx)
  await client.of(node).patch('node-0', '', { spec: { taints: [...(spec.taints ?? []), taint] } }, 'merge', ctx)
  await clock.advance('1m')
  deepEqual(attachedTo(cluster), ['node-1'])
  equal(await phaseOf(cluster, 'other'), 'Running')
})
