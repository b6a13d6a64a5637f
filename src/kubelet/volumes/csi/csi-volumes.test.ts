// Volumes of a storage driver in a whole kubelet: mounted, shared, released, and nothing left when the driver or the
// kubelet fails between any two calls.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../../api/core/v1/pod/pod.ts'
import { registrarSocket, type Fault } from '../../plugins/fake-csi-plugin.harness.ts'
import { driverName, handle, sha256, startCsiNode } from './csi-node.harness.ts'

const stagingDirectory = `/plugins/kubernetes.io/csi/${driverName}/${sha256(handle)}`
const staging = `${stagingDirectory}/globalmount`
type CsiNode = Awaited<ReturnType<typeof startCsiNode>>

const json = async ({ disk }: CsiNode, path: string): Promise<unknown> =>
  JSON.parse(new TextDecoder().decode(await disk.readTail(path, 10_000)))

/** Nothing of a driver is left on the node. */
async function isClean({ disk, plugin }: CsiNode): Promise<void> {
  deepEqual(plugin.mounts, [])
  deepEqual(await disk.mountsBelow('/plugins'), [])
  deepEqual(await disk.mountsBelow('/pods'), [])
  deepEqual(await disk.list(`/plugins/kubernetes.io/csi/${driverName}`), [])
  deepEqual(plugin.violations, [])
}

test('a volume is staged once, published for each pod, and released after the last', async () => {
  await using node = await startCsiNode()
  await node.bind()
  await node.run('a')
  equal(await node.phase('a'), 'Running')
  const directory = `/pods/${await node.uid('a')}/volumes/kubernetes.io~csi/pv`
  deepEqual(await json(node, `${stagingDirectory}/vol_data.json`), { driverName, volumeHandle: handle })
  deepEqual(await json(node, `${directory}/vol_data.json`), {
    attachmentID: `csi-${sha256(`${handle}${driverName}solo`)}`,
    driverName,
    nodeName: 'solo',
    specVolID: 'pv',
    volumeHandle: handle,
    volumeLifecycleMode: 'Persistent',
  })
  deepEqual(node.plugin.mounts, [staging, `${directory}/mount`])
  await node.run('b')
  deepEqual(node.plugin.changes, ['NodeStageVolume', 'NodePublishVolume', 'NodePublishVolume'])
  await node.remove('a')
  deepEqual(node.plugin.changes.slice(3), ['NodeUnpublishVolume'])
  await node.remove('b')
  deepEqual(node.plugin.changes.slice(4), ['NodeUnpublishVolume', 'NodeUnstageVolume'])
  await isClean(node)
})

test('the driver gets the volume, its capability and its context', async () => {
  await using node = await startCsiNode({
    plugin: { capabilities: ['STAGE_UNSTAGE_VOLUME', 'SINGLE_NODE_MULTI_WRITER', 'VOLUME_MOUNT_GROUP'] },
    driver: { attachRequired: false, podInfoOnMount: true, tokenRequests: [{ audience: 'vault' }] },
  })
  await node.bind({ mountOptions: ['noatime'] })
  await node.run(
    'a',
    { persistentVolumeClaim: { claimName: 'data', readOnly: true } },
    {
      securityContext: { fsGroup: 77 },
    },
  )
  const { publishContext, secrets, volumeContext, ...request } = node.plugin.requestOf('NodePublishVolume')
  const target = `/pods/${await node.uid('a')}/volumes/kubernetes.io~csi/pv/mount`
  deepEqual(request, {
    volumeId: handle,
    stagingTargetPath: staging,
    targetPath: target,
    volumeCapability: {
      block: undefined,
      mount: { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '77' },
      accessMode: { mode: 'SINGLE_NODE_MULTI_WRITER' },
    },
    readonly: true,
  })
  deepEqual([{ ...(publishContext as object) }, { ...(secrets as object) }], [{}, {}])
  const { 'csi.storage.k8s.io/serviceAccount.tokens': tokens, ...rest } = volumeContext as Record<string, string>
  deepEqual(rest, {
    color: 'red',
    'csi.storage.k8s.io/pod.name': 'a',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': await node.uid('a'),
    'csi.storage.k8s.io/serviceAccount.name': 'default',
    'csi.storage.k8s.io/ephemeral': 'false',
  })
  const { vault } = JSON.parse(tokens ?? '{}') as Record<string, { token: string; expirationTimestamp: string }>
  match(vault?.token ?? '', /^ey/)
  match(vault?.expirationTimestamp ?? '', /^\d{4}-/)
  equal(await node.disk.hasGroup(target, 77), false, 'the driver applies the group')
})

test('a driver that does not stage volumes only publishes them', async () => {
  await using node = await startCsiNode({ plugin: { capabilities: [] } })
  await node.bind()
  await node.run('a')
  equal(node.plugin.requestOf('NodePublishVolume')['stagingTargetPath'], '')
  await node.remove('a')
  deepEqual(node.plugin.changes, ['NodePublishVolume', 'NodeUnpublishVolume'])
  await isClean(node)
})

test('a raw block volume is published as a device', async () => {
  await using node = await startCsiNode()
  await node.bind({ volumeMode: 'Block' })
  const containers = [{ name: 'c', image: 'i', volumeDevices: [{ name: 'v', devicePath: '/dev/xvda' }] }]
  await node.run('a', undefined, { containers })
  equal(await node.phase('a'), 'Running')
  const devices = '/plugins/kubernetes.io/csi/volumeDevices'
  const { targetPath, stagingTargetPath, volumeCapability } = node.plugin.requestOf('NodePublishVolume')
  equal(targetPath, `${devices}/publish/pv/${await node.uid('a')}`)
  equal(stagingTargetPath, `${devices}/staging/pv`)
  ok((volumeCapability as { block?: object }).block !== undefined)
  await node.remove('a')
  deepEqual(node.plugin.changes.slice(2), ['NodeUnpublishVolume', 'NodeUnstageVolume'])
  await isClean(node)
  deepEqual(await node.disk.list(`${devices}/publish`), [])
})

test('an inline volume has the lifetime of its pod and is not staged', async () => {
  await using node = await startCsiNode({
    driver: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
  })
  await node.run('a', { csi: { driver: driverName, readOnly: true, volumeAttributes: { size: '1' } } })
  equal(await node.phase('a'), 'Running')
  const request = node.plugin.requestOf('NodePublishVolume')
  equal(request['volumeId'], `csi-${sha256(`${await node.uid('a')}v`)}`)
  equal(request['readonly'], true)
  equal((request['volumeContext'] as Record<string, string>)['csi.storage.k8s.io/ephemeral'], 'true')
  await node.remove('a')
  deepEqual(node.plugin.changes, ['NodePublishVolume', 'NodeUnpublishVolume'])
  await isClean(node)
})

test('an inline volume of a driver for persistent volumes is rejected', async () => {
  await using node = await startCsiNode()
  await node.run('a', { csi: { driver: driverName } })
  ok(
    (await node.events()).includes(
      'FailedMount: MountVolume.NewMounter initialization failed for volume "v" : volume mode "Ephemeral" not supported by driver fake.csi (only supports ["Persistent"])',
    ),
  )
  deepEqual(node.plugin.changes, [])
})

test('a pod waits for its driver, and says so', async () => {
  await using node = await startCsiNode()
  await node.bind()
  node.sockets.remove(registrarSocket)
  await node.clock.advance('1s')
  await node.run('a')
  equal(await node.phase('a'), 'Pending')
  const message =
    'FailedMount: MountVolume.MountDevice failed for volume "pv" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name fake.csi not found in the list of registered CSI drivers'
  ok((await node.events()).includes(message))
  node.sockets.add(registrarSocket)
  await node.clock.advance('2m')
  equal(await node.phase('a'), 'Running')
})

test('a missing secret is reported', async () => {
  await using node = await startCsiNode()
  const nodeStageSecretRef = { name: 'keys', namespace: 'default' }
  await node.bind({ csi: { driver: driverName, volumeHandle: handle, nodeStageSecretRef } })
  await node.run('a')
  match(
    (await node.events()).join('\n'),
    /MountDevice failed for volume "pv" : fetching NodeStageSecretRef default\/keys failed: .* secrets "keys" not found/,
  )
})

test('a volume is mounted after it was attached', async () => {
  await using node = await startCsiNode({ driver: { attachRequired: true } })
  await node.bind()
  await node.run('a')
  deepEqual((await node.self()).status.volumesInUse, [`kubernetes.io/csi/${driverName}^${handle}`])
  deepEqual(node.plugin.changes, [])
  await node.attach({ attached: true, attachmentMetadata: { device: '/dev/sdb' } })
  await node.reportAttached()
  await node.clock.advance('10s')
  equal(await node.phase('a'), 'Running')
  for (const method of ['NodeStageVolume', 'NodePublishVolume'])
    deepEqual({ ...(node.plugin.requestOf(method)['publishContext'] as object) }, { device: '/dev/sdb' })
  await node.remove('a')
  deepEqual((await node.self()).status.volumesInUse ?? [], [], 'the volume may be detached')
  await isClean(node)
})

test('a pod that is deleted while it waits for an attachment does not use the volume any more', async () => {
  await using node = await startCsiNode({ driver: { attachRequired: true } })
  await node.bind()
  await node.run('a')
  await node.clock.advance('5m')
  deepEqual(
    (await node.events()).filter((text) => text.startsWith('FailedMount')),
    [],
  )
  await node.remove('a')
  deepEqual((await node.self()).status.volumesInUse ?? [], [])
})

test('a pod fails when the driver cannot attach more volumes', async () => {
  await using node = await startCsiNode({ driver: { attachRequired: true } })
  await node.bind()
  await node.run('a')
  await node.attach({ attached: false, attachError: { message: 'too many', errorCode: 8 } })
  await node.clock.advance('10s')
  const { status } = await node.client.of(pod).get('a')
  deepEqual([status.phase, status.reason], ['Failed', 'VolumeAttachmentLimitExceeded'])
})

const faults: readonly Fault[] = [
  { kind: 'fail', code: 'INTERNAL', details: 'broken' },
  { kind: 'fail', code: 'UNAVAILABLE', details: 'restarting' },
  { kind: 'hang' },
  { kind: 'lose-answer' },
]
const methods = [
  'NodeGetCapabilities',
  'NodeStageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
]
for (const method of methods)
  for (const fault of faults) {
    const what = fault.kind === 'fail' ? `fail with ${fault.code}` : fault.kind
    test(`nothing is left when ${method} has the fault ${what}, twice`, async () => {
      await using node = await startCsiNode()
      await node.bind()
      node.plugin.breaks(method, fault, fault)
      await node.run('a')
      await node.clock.advance('10m')
      equal(await node.phase('a'), 'Running')
      await node.remove('a')
      await node.clock.advance('10m')
      equal(await node.phase('a'), undefined)
      await isClean(node)
    })

    test(`nothing is left when a pod is deleted while ${method} has the fault ${what}`, async () => {
      await using node = await startCsiNode()
      await node.bind()
      node.plugin.breaks(method, fault, fault)
      await node.run('a')
      await node.remove('a')
      await node.clock.advance('10m')
      equal(await node.phase('a'), undefined)
      await isClean(node)
    })

    test(`nothing is left when the kubelet is restarted while ${method} has the fault ${what}`, async () => {
      await using node = await startCsiNode()
      await node.bind()
      node.plugin.breaks(method, fault)
      await node.run('a')
      await node.restart(() => node.client.of(pod).delete('a', 'default', { gracePeriodSeconds: 0 }))
      await node.clock.advance('10m')
      equal(await node.phase('a'), undefined)
      await isClean(node)
    })
  }

test('a running pod keeps its volume when the kubelet is restarted', async () => {
  await using node = await startCsiNode()
  await node.bind()
  await node.run('a')
  const before = node.plugin.mounts
  await node.restart()
  await node.clock.advance('5m')
  deepEqual(node.plugin.mounts, before)
  deepEqual(
    node.plugin.changes.filter((method) => method.includes('Un')),
    [],
  )
  await node.remove('a')
  await isClean(node)
})

test('a volume of a driver that is away is released when the driver is back', async () => {
  await using node = await startCsiNode()
  await node.bind()
  await node.run('a')
  node.sockets.remove(registrarSocket)
  await node.clock.advance('1s')
  await node.restart(() => node.client.of(pod).delete('a', 'default', { gracePeriodSeconds: 0 }))
  await node.clock.advance('20m')
  equal(node.plugin.mounts.length, 2)
  node.sockets.add(registrarSocket)
  await node.clock.advance('5s')
  await isClean(node)
})
