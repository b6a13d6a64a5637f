// What happens to mounted volumes of storage drivers: they are published again, expanded and measured.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { startCsiNode } from './csi-node.harness.ts'

type CsiNode = Awaited<ReturnType<typeof startCsiNode>>

const tokensOf = ({ plugin }: CsiNode): string | undefined => {
  const { volumeContext } = plugin.requestOf('NodePublishVolume')
  return (volumeContext as Record<string, string> | undefined)?.['csi.storage.k8s.io/serviceAccount.tokens']
}

test('a driver that requires it gets a mounted volume again, with new tokens', async () => {
  await using node = await startCsiNode({
    driver: {
      attachRequired: false,
      requiresRepublish: true,
      tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }],
    },
  })
  await node.bind()
  await node.run('a')
  const first = tokensOf(node)
  const calls = node.plugin.changes.length
  await node.clock.advance('10m')
  ok(node.plugin.changes.length >= calls + 5)
  deepEqual([...new Set(node.plugin.changes.slice(calls))], ['NodePublishVolume'])
  notEqual(tokensOf(node), first)
  equal(await node.phase('a'), 'Running')
})

const expanding = { plugin: { capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'] } }
const grow = ({ client }: CsiNode) =>
  client.of(persistentVolume).patch('pv', { spec: { capacity: { storage: '2Gi' } } })
/** A node with a mounted volume whose PersistentVolume has grown. */
async function nodeWithGrownVolume(): Promise<CsiNode> {
  const node = await startCsiNode(expanding)
  await node.bind()
  await node.run('a')
  await grow(node)
  return node
}
const succeeded = 'FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv" solo'

test('a mounted volume that has grown is expanded', async () => {
  await using node = await nodeWithGrownVolume()
  await node.clock.advance('2m')
  const { stagingTargetPath, volumePath, capacityRange } = node.plugin.requestOf('NodeExpandVolume')
  equal(volumePath, `/pods/${await node.uid('a')}/volumes/kubernetes.io~csi/pv/mount`)
  match(String(stagingTargetPath), /globalmount$/)
  equal((capacityRange as { requiredBytes: number }).requiredBytes, 2 * 2 ** 30)
  const { status } = await node.claim()
  equal(status.capacity?.['storage'], '2Gi')
  equal(status.allocatedResourceStatuses?.['storage'], undefined)
  ok((await node.events()).includes(succeeded))
  ok((await node.events('PersistentVolumeClaim')).includes(succeeded))
  const calls = node.plugin.changes.length
  await node.clock.advance('5m')
  equal(node.plugin.changes.length, calls, 'it is expanded once')
})

test('a volume that has grown while it was not mounted is expanded before the pod starts', async () => {
  await using node = await startCsiNode(expanding)
  await node.bind()
  await grow(node)
  await node.run('a')
  deepEqual(node.plugin.changes, ['NodeStageVolume', 'NodeExpandVolume', 'NodePublishVolume'])
  equal((await node.claim()).status.capacity?.['storage'], '2Gi')
})

test('a failed expansion is reported and retried', async () => {
  await using node = await nodeWithGrownVolume()
  const fault = { kind: 'fail', code: 'INTERNAL', details: 'no space' } as const
  node.plugin.breaks('NodeExpandVolume', fault)
  await node.clock.advance('5m')
  const message =
    'VolumeResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv" : rpc error: code = Internal desc = no space'
  ok((await node.events('PersistentVolumeClaim')).includes(message))
  const { status } = await node.claim()
  equal(status.capacity?.['storage'], '2Gi')
  deepEqual(status.conditions ?? [], [])
})

test('an expansion that the driver refuses for good is marked and not retried', async () => {
  await using node = await nodeWithGrownVolume()
  node.plugin.breaks('NodeExpandVolume', { kind: 'fail', code: 'OUT_OF_RANGE', details: 'too large' })
  await node.clock.advance('10m')
  const { status } = await node.claim()
  equal(status.allocatedResourceStatuses?.['storage'], 'NodeResizeInfeasible')
  equal(status.capacity?.['storage'], '1Gi')
  equal(node.plugin.changes.filter((method) => method === 'NodeExpandVolume').length, 1)
})

test('a volume in use that the driver cannot expand now is left as it is', async () => {
  await using node = await nodeWithGrownVolume()
  node.plugin.breaks('NodeExpandVolume', { kind: 'fail', code: 'FAILED_PRECONDITION', details: 'in use' })
  await node.clock.advance('90s')
  deepEqual(
    (await node.events('PersistentVolumeClaim')).filter((text) => text.startsWith('VolumeResizeFailed')),
    [],
  )
  equal(await node.phase('a'), 'Running')
})

test('the usage of volumes is that of their drivers', async () => {
  const usage = [
    { available: 3, total: 10, used: 7, unit: 'BYTES' },
    { available: 30, total: 100, used: 70, unit: 'INODES' },
  ]
  await using node = await startCsiNode({ plugin: { capabilities: ['GET_VOLUME_STATS'], stats: { usage } } })
  await node.bind()
  await node.run('a')
  deepEqual(await node.volumeStats('a'), [], 'the driver is asked in the background')
  const { time, ...rest } = (await node.volumeStats('a'))[0] ?? {}
  match(time ?? '', /^\d{4}-/)
  deepEqual(rest, {
    name: 'v',
    pvcRef: { name: 'data', namespace: 'default' },
    availableBytes: 3,
    capacityBytes: 10,
    usedBytes: 7,
    inodesFree: 30,
    inodes: 100,
    inodesUsed: 70,
  })
  const metrics = await node.metrics()
  match(metrics, /^kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="data"} 7$/m)
  match(metrics, /^kubelet_volume_stats_inodes_free{namespace="default",persistentvolumeclaim="data"} 30$/m)
})

test('a driver that does not report usage leaves the statistics of other volumes alone', async () => {
  await using node = await startCsiNode({ plugin: { capabilities: ['GET_VOLUME_STATS'] } })
  await node.bind()
  await node.run('a')
  node.plugin.breaks('NodeGetVolumeStats', { kind: 'hang' })
  await node.volumeStats('a')
  deepEqual(await node.volumeStats('a'), [])
})
