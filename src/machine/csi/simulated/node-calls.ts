// The Node service: volumes at paths of one node. A volume is staged once per node and published once per pod.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Proto } from '../../../wire/protobuf/proto-message.ts'
import type { nodePublishVolumeRequest } from '../messages/node.ts'
import type { volumeCapability } from '../messages/volume.ts'
import type { nodeService } from '../methods.ts'
import { DriverError, required } from './driver-error.ts'
import type { ServiceCalls } from './service-calls.ts'
import {
  idOf,
  mountKey,
  volumeOf,
  type DriverNode,
  type MountOptions,
  type MountRecord,
  type StorageSystem,
  type VolumeMounts,
  type VolumeRecord,
} from './storage-system.ts'
import { put } from './volume-calls.ts'

/** The volume context of a volume that exists only for its pod. */
const ephemeralKey = 'csi.storage.k8s.io/ephemeral'
const ephemeralBytes = 1 << 30

export const nodeCalls = (
  storage: StorageSystem,
  node: DriverNode,
  mounts: VolumeMounts,
): ServiceCalls<typeof nodeService> => ({
  nodeGetCapabilities: () => ({
    capabilities: (
      ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'EXPAND_VOLUME', 'SINGLE_NODE_MULTI_WRITER'] as const
    ).map((type) => ({ rpc: { type } })),
  }),
  nodeGetInfo: () => ({
    nodeId: node.id,
    maxVolumesPerNode: node.volumesMax,
    ...(Object.keys(node.topology).length === 0 ? {} : { accessibleTopology: { segments: node.topology } }),
  }),
  async nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability: capability }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    required(stagingTargetPath, 'staging_target_path')
    const options = optionsOf(volume, capability, false)
    if (storage.config.mustAttach && lookup(volume.attachments, node.id) === undefined)
      throw new DriverError('FAILED_PRECONDITION', `volume ${volumeId} is not attached to node ${node.id}`)
    const mount = { nodeId: node.id, path: stagingTargetPath, volumeId, isReadOnly: false }
    checkMount(storage.records.staged, mount)
    await mounts.stage(volume, stagingTargetPath, options)
    await record(storage, storage.records.staged, mount)
    return {}
  },
  async nodeUnstageVolume({ volumeId, stagingTargetPath }) {
    required(volumeId, 'volume_id')
    required(stagingTargetPath, 'staging_target_path')
    await mounts.unstage(volumeId, stagingTargetPath)
    await forget(storage, storage.records.staged, mountKey(node.id, stagingTargetPath))
    return {}
  },
  nodePublishVolume: (request) => publish(storage, node, mounts, request),
  async nodeUnpublishVolume({ volumeId, targetPath }) {
    required(volumeId, 'volume_id')
    required(targetPath, 'target_path')
    await mounts.unpublish(volumeId, targetPath)
    const { published, volumes } = storage.records
    await forget(storage, published, mountKey(node.id, targetPath))
    const volume = volumes.get(volumeId)
    if (volume?.isEphemeral === true) {
      await storage.contents.delete(volume)
      volumes.delete(volumeId)
      await storage.save()
    }
    return {}
  },
  async nodeGetVolumeStats({ volumeId, volumePath }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    requireMounted(storage, node, required(volumePath, 'volume_path'))
    const { bytes, inodes } = await mounts.usage(volume, volumePath)
    return {
      usage: [
        { ...bytes, unit: 'BYTES' },
        { ...inodes, unit: 'INODES' },
      ],
    }
  },
  async nodeExpandVolume({ volumeId, volumePath }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    requireMounted(storage, node, required(volumePath, 'volume_path'))
    await mounts.expand(volume, volumePath)
    return { capacityBytes: volume.capacityBytes }
  },
})

async function publish(
  storage: StorageSystem,
  node: DriverNode,
  mounts: VolumeMounts,
  request: Proto<typeof nodePublishVolumeRequest>,
) {
  const { volumeId, stagingTargetPath, targetPath, readonly } = request
  required(volumeId, 'volume_id')
  required(targetPath, 'target_path')
  const isEphemeral = request.volumeContext[ephemeralKey] === 'true'
  const volume = isEphemeral ? await ephemeralVolume(storage, volumeId) : volumeOf(storage, volumeId)
  const options = optionsOf(volume, request.volumeCapability, readonly)
  if (!isEphemeral && storage.records.staged.get(mountKey(node.id, stagingTargetPath))?.volumeId !== volumeId)
    throw new DriverError('FAILED_PRECONDITION', `volume ${volumeId} is not staged at ${stagingTargetPath}`)
  const mount = { nodeId: node.id, path: targetPath, volumeId, isReadOnly: readonly }
  checkMount(storage.records.published, mount)
  await mounts.publish(volume, stagingTargetPath, targetPath, options)
  await record(storage, storage.records.published, mount)
  return {}
}

async function ephemeralVolume(storage: StorageSystem, volumeId: string): Promise<VolumeRecord> {
  const existing = storage.records.volumes.get(volumeId)
  if (existing !== undefined) return existing
  const volume: VolumeRecord = {
    id: idOf(volumeId),
    name: volumeId,
    capacityBytes: ephemeralBytes,
    isBlock: false,
    parameters: {},
    mutableParameters: {},
    source: undefined,
    topology: undefined,
    isEphemeral: true,
    attachments: {},
  }
  await storage.contents.create(volume)
  await put(storage, volume)
  return volume
}

function optionsOf(
  volume: VolumeRecord,
  capability: Proto<typeof volumeCapability> | undefined,
  isReadOnly: boolean,
): MountOptions {
  if (capability === undefined || (capability.block === undefined && capability.mount === undefined))
    throw new DriverError('INVALID_ARGUMENT', 'volume_capability is missing')
  if ((capability.block !== undefined) !== volume.isBlock)
    throw new DriverError('INVALID_ARGUMENT', `volume ${volume.id} does not have the requested access type`)
  return { fsType: capability.mount?.fsType ?? '', flags: capability.mount?.mountFlags ?? [], isReadOnly }
}

function checkMount(
  mounts: ReadonlyMap<string, MountRecord>,
  { nodeId, path, volumeId, isReadOnly }: MountRecord,
): void {
  const existing = mounts.get(mountKey(nodeId, path))
  if (existing !== undefined && (existing.volumeId !== volumeId || existing.isReadOnly !== isReadOnly))
    throw new DriverError('ALREADY_EXISTS', `volume ${existing.volumeId} is mounted at ${path} in a different way`)
}

async function record(storage: StorageSystem, mounts: Map<string, MountRecord>, mount: MountRecord): Promise<void> {
  mounts.set(mountKey(mount.nodeId, mount.path), mount)
  await storage.save()
}

async function forget(storage: StorageSystem, mounts: Map<string, MountRecord>, key: string): Promise<void> {
  if (mounts.delete(key)) await storage.save()
}

function requireMounted({ records }: StorageSystem, node: DriverNode, path: string): void {
  const key = mountKey(node.id, path)
  if (!records.staged.has(key) && !records.published.has(key))
    throw new DriverError('NOT_FOUND', `nothing is mounted at ${path}`)
}
