// The Controller service's calls for volumes: create, delete, list, expand, modify.
import type { Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import type { createVolumeRequest } from '../messages/controller.ts'
import type { volume as volumeMessage, volumeCapability } from '../messages/volume.ts'
import type { controllerService } from '../methods.ts'
import { availableBytes, capacityIn, chooseTopology, isInRange } from './capacity.ts'
import { DriverError, required } from './driver-error.ts'
import { pageOf } from './pages.ts'
import type { ServiceCalls } from './service-calls.ts'
import {
  idOf,
  mountsOf,
  volumeOf,
  volumesMax,
  type ContentSource,
  type StorageSystem,
  type VolumeRecord,
} from './storage-system.ts'

type VolumeCalls = Pick<
  ServiceCalls<typeof controllerService>,
  | 'createVolume'
  | 'deleteVolume'
  | 'validateVolumeCapabilities'
  | 'listVolumes'
  | 'controllerGetVolume'
  | 'getCapacity'
  | 'controllerExpandVolume'
  | 'controllerModifyVolume'
>

export const volumeCalls = (storage: StorageSystem): VolumeCalls => ({
  createVolume: (request) => createVolume(storage, request),
  async deleteVolume({ volumeId }) {
    const volume = storage.records.volumes.get(required(volumeId, 'volume_id'))
    if (volume === undefined) return {}
    const { staged, published } = storage.records
    if (
      Object.keys(volume.attachments).length +
      mountsOf(staged, volumeId).length +
      mountsOf(published, volumeId).length
    )
      throw new DriverError('FAILED_PRECONDITION', `volume ${volumeId} is in use`)
    await storage.contents.delete(volume)
    storage.records.volumes.delete(volumeId)
    await storage.save()
    return {}
  },
  validateVolumeCapabilities({ volumeId, volumeCapabilities, volumeContext, parameters, mutableParameters }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    requireCapabilities(volumeCapabilities)
    if (volumeCapabilities.some((capability) => isBlockCapability(capability) && !volume.isBlock))
      return { message: `volume ${volumeId} is not a block volume` }
    return { confirmed: { volumeContext, volumeCapabilities, parameters, mutableParameters } }
  },
  listVolumes({ maxEntries, startingToken }) {
    const { items, nextToken } = pageOf([...storage.records.volumes.values()], maxEntries, startingToken)
    return { entries: items.map((volume) => ({ volume: messageOf(volume), status: statusOf(volume) })), nextToken }
  },
  controllerGetVolume({ volumeId }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    return { volume: messageOf(volume), status: statusOf(volume) }
  },
  getCapacity({ accessibleTopology }) {
    const availableCapacity = availableBytes(storage, accessibleTopology?.segments)
    const { volumeBytesMax, volumeBytesMin } = storage.config
    return {
      availableCapacity,
      maximumVolumeSize: { value: Math.min(volumeBytesMax, availableCapacity) },
      minimumVolumeSize: { value: volumeBytesMin },
    }
  },
  async controllerExpandVolume({ volumeId, capacityRange }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    if (capacityRange === undefined) throw new DriverError('INVALID_ARGUMENT', 'capacity_range is missing')
    const nodeExpansionRequired = storage.config.mustExpandOnNode && !volume.isBlock
    const capacityBytes = Math.max(capacityIn(capacityRange, storage.config), volume.capacityBytes)
    if (capacityBytes > volume.capacityBytes) {
      if (availableBytes(storage, volume.topology) < capacityBytes - volume.capacityBytes)
        throw new DriverError('OUT_OF_RANGE', `no space is left to expand the volume to ${capacityBytes} bytes`)
      const expanded = { ...volume, capacityBytes }
      await storage.contents.expand(expanded)
      await put(storage, expanded)
    }
    return { capacityBytes, nodeExpansionRequired }
  },
  async controllerModifyVolume({ volumeId, mutableParameters }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    await put(storage, { ...volume, mutableParameters: { ...volume.mutableParameters, ...mutableParameters } })
    return {}
  },
})

async function createVolume(storage: StorageSystem, request: Proto<typeof createVolumeRequest>) {
  const id = idOf(required(request.name, 'name'))
  requireCapabilities(request.volumeCapabilities)
  const source = sourceOf(request)
  const existing = storage.records.volumes.get(id)
  if (existing !== undefined) return { volume: messageOf(compatible(existing, request, source)) }
  if (storage.records.volumes.size >= volumesMax)
    throw new DriverError('RESOURCE_EXHAUSTED', `there are ${volumesMax} volumes`)
  const capacityBytes = capacityIn(request.capacityRange, storage.config)
  checkSource(storage, source, capacityBytes)
  const volume: VolumeRecord = {
    id,
    name: request.name,
    capacityBytes,
    isBlock: request.volumeCapabilities.some(isBlockCapability),
    parameters: { ...request.parameters },
    mutableParameters: { ...request.mutableParameters },
    source,
    topology: chooseTopology(storage, request.accessibilityRequirements, capacityBytes),
    isEphemeral: false,
    attachments: {},
  }
  await storage.contents.create(volume)
  await put(storage, volume)
  return { volume: messageOf(volume) }
}

function compatible(
  volume: VolumeRecord,
  { capacityRange, volumeCapabilities, parameters }: Proto<typeof createVolumeRequest>,
  source: ContentSource | undefined,
): VolumeRecord {
  const isSame =
    isInRange(volume.capacityBytes, capacityRange) &&
    volume.isBlock === volumeCapabilities.some(isBlockCapability) &&
    volume.source?.kind === source?.kind &&
    volume.source?.id === source?.id &&
    JSON.stringify(Object.entries(volume.parameters).toSorted()) ===
      JSON.stringify(Object.entries(parameters).toSorted())
  if (!isSame) throw new DriverError('ALREADY_EXISTS', `volume ${volume.name} exists with different properties`)
  return volume
}

function sourceOf({ volumeContentSource }: Proto<typeof createVolumeRequest>): ContentSource | undefined {
  if (volumeContentSource?.snapshot !== undefined)
    return { kind: 'snapshot', id: required(volumeContentSource.snapshot.snapshotId, 'snapshot_id') }
  if (volumeContentSource?.volume !== undefined)
    return { kind: 'volume', id: required(volumeContentSource.volume.volumeId, 'volume_id of the source') }
  return undefined
}

function checkSource(storage: StorageSystem, source: ContentSource | undefined, capacityBytes: number): void {
  if (source === undefined) return
  const sizeBytes =
    source.kind === 'volume'
      ? storage.records.volumes.get(source.id)?.capacityBytes
      : storage.records.snapshots.get(source.id)?.sizeBytes
  if (sizeBytes === undefined) throw new DriverError('NOT_FOUND', `${source.kind} ${source.id} does not exist`)
  if (sizeBytes > capacityBytes)
    throw new DriverError('OUT_OF_RANGE', `${capacityBytes} bytes are less than the source's ${sizeBytes} bytes`)
}

export async function put(storage: StorageSystem, volume: VolumeRecord): Promise<void> {
  storage.records.volumes.set(volume.id, volume)
  await storage.save()
}

export const isBlockCapability = ({ block }: Pick<Proto<typeof volumeCapability>, 'block'>): boolean =>
  block !== undefined

function requireCapabilities(capabilities: readonly Proto<typeof volumeCapability>[]): void {
  if (capabilities.length === 0) throw new DriverError('INVALID_ARGUMENT', 'volume_capabilities is missing')
  for (const { block, mount } of capabilities)
    if (block === undefined && mount === undefined)
      throw new DriverError('INVALID_ARGUMENT', 'a volume capability has no access type')
}

function messageOf({ id, capacityBytes, name, source, topology }: VolumeRecord): ProtoInput<typeof volumeMessage> {
  return {
    volumeId: id,
    capacityBytes,
    volumeContext: { name },
    ...(source?.kind === 'snapshot' ? { contentSource: { snapshot: { snapshotId: source.id } } } : {}),
    ...(source?.kind === 'volume' ? { contentSource: { volume: { volumeId: source.id } } } : {}),
    ...(topology === undefined ? {} : { accessibleTopology: [{ segments: topology }] }),
  }
}

const statusOf = ({ attachments }: VolumeRecord) => ({
  publishedNodeIds: Object.keys(attachments),
  volumeCondition: { abnormal: false, message: '' },
})
