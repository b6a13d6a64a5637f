// StorageSystem: the volumes, snapshots and attachments that the instances of one driver share, and the contracts with
// the medium that has their content. The records are plain data, so that a driver process can save them in a file.
import type { Clock } from '../../../base/time/clock.ts'
import type { CallOrder } from './call-order.ts'
import { DriverError } from './driver-error.ts'

export type Segments = Readonly<Record<string, string>>

export interface VolumeRecord {
  readonly id: string
  readonly name: string
  readonly capacityBytes: number
  readonly isBlock: boolean
  readonly parameters: Readonly<Record<string, string>>
  readonly mutableParameters: Readonly<Record<string, string>>
  readonly source: ContentSource | undefined
  /** Where it can be used; anywhere if it is undefined. */
  readonly topology: Segments | undefined
  /** Created by NodePublishVolume for one pod. */
  readonly isEphemeral: boolean
  /** The attachments by node id. */
  readonly attachments: Readonly<Record<string, Attachment>>
}

export interface Attachment {
  readonly isReadOnly: boolean
  readonly mode: string
}

export interface ContentSource {
  readonly kind: 'snapshot' | 'volume'
  readonly id: string
}

export interface SnapshotRecord {
  readonly id: string
  readonly sourceVolumeId: string
  readonly sizeBytes: number
  readonly createdMs: number
}

export interface MountRecord {
  readonly nodeId: string
  readonly path: string
  readonly volumeId: string
  readonly isReadOnly: boolean
}

export interface StorageRecords {
  readonly volumes: Map<string, VolumeRecord>
  readonly snapshots: Map<string, SnapshotRecord>
  /** By node id and path. */
  readonly staged: Map<string, MountRecord>
  readonly published: Map<string, MountRecord>
}

export const noRecords = (): StorageRecords => ({
  volumes: new Map(),
  snapshots: new Map(),
  staged: new Map(),
  published: new Map(),
})

export interface StorageConfig {
  readonly driverName: string
  /** Whether volumes are attached by ControllerPublishVolume before a node can use them. */
  readonly mustAttach: boolean
  /** Of each topology segment; of the whole system for nodes without topology. */
  readonly capacityBytes: number
  readonly volumeBytesMin: number
  readonly volumeBytesMax: number
  /** How long a snapshot takes until it can be used. */
  readonly snapshotReadyMs: number
  /** Whether an expansion must be completed by NodeExpandVolume. */
  readonly mustExpandOnNode: boolean
}

const MiB = 1 << 20

export const storageConfigDefault: StorageConfig = {
  driverName: 'csi.coxswain.dev',
  mustAttach: true,
  capacityBytes: 100 * 1024 * MiB,
  volumeBytesMin: MiB,
  volumeBytesMax: 16 * 1024 * MiB,
  snapshotReadyMs: 0,
  mustExpandOnNode: true,
}

export interface DriverNode {
  readonly id: string
  readonly topology: Segments
  /** Zero: not limited. */
  readonly volumesMax: number
}

/** The content of volumes and snapshots. Every function may be repeated after it was interrupted. */
export interface VolumeContents {
  create(volume: VolumeRecord): Promise<void>
  delete(volume: VolumeRecord): Promise<void>
  expand(volume: VolumeRecord): Promise<void>
  createSnapshot(snapshot: SnapshotRecord, source: VolumeRecord): Promise<void>
  deleteSnapshot(snapshot: SnapshotRecord): Promise<void>
}

export interface MountOptions {
  readonly fsType: string
  readonly flags: readonly string[]
  readonly isReadOnly: boolean
}

/** Volumes at paths of one node. Every function may be repeated, and does nothing if there is nothing to do. */
export interface VolumeMounts {
  stage(volume: VolumeRecord, stagingPath: string, options: MountOptions): Promise<void>
  unstage(volumeId: string, stagingPath: string): Promise<void>
  publish(volume: VolumeRecord, stagingPath: string, targetPath: string, options: MountOptions): Promise<void>
  unpublish(volumeId: string, targetPath: string): Promise<void>
  /** Makes the filesystem as large as the volume. */
  expand(volume: VolumeRecord, path: string): Promise<void>
  usage(volume: VolumeRecord, path: string): Promise<VolumeUsage>
}

export interface VolumeUsage {
  readonly bytes: UsageNumbers
  readonly inodes: UsageNumbers
}

export interface UsageNumbers {
  readonly total: number
  readonly used: number
  readonly available: number
}

export interface StorageSystem {
  readonly config: StorageConfig
  readonly clock: Clock
  readonly records: StorageRecords
  /** By id: those whose driver is known. */
  readonly nodes: ReadonlyMap<string, DriverNode>
  readonly contents: VolumeContents
  readonly order: CallOrder
  /** Called after each change of the records, before the call is answered. */
  save(): Promise<void>
}

/** Bounds the records, and so the memory and files that a test can use. */
export const volumesMax = 10_000
export const snapshotsMax = 10_000

export function volumeOf({ records }: StorageSystem, id: string): VolumeRecord {
  const volume = records.volumes.get(id)
  if (volume === undefined) throw new DriverError('NOT_FOUND', `volume ${id} does not exist`)
  return volume
}

export const mountKey = (nodeId: string, path: string): string => `${nodeId} ${path}`

export const mountsOf = (records: ReadonlyMap<string, MountRecord>, volumeId: string): MountRecord[] =>
  [...records.values()].filter((mount) => mount.volumeId === volumeId)

/** The id of a name: the same for a repeated call, also after a crash. It is used as a file name. */
export function idOf(name: string): string {
  const id = encodeURIComponent(name).replace(/^\./, '%2E')
  if (id.length > idCharactersMax) throw new DriverError('INVALID_ARGUMENT', 'the name is too long')
  return id
}

const idCharactersMax = 128
