// Sizes and places of volumes: the capacity within a requested range, the topology that meets a requirement, and the
// space that is left there.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Proto } from '../../../wire/protobuf/proto-message.ts'
import type { capacityRange, topologyRequirement } from '../messages/volume.ts'
import { DriverError } from './driver-error.ts'
import type { Segments, StorageConfig, StorageSystem } from './storage-system.ts'

const capacityBytesDefault = 1 << 30

/** The smallest capacity in the range. */
export function capacityIn(range: Proto<typeof capacityRange> | undefined, config: StorageConfig): number {
  const { requiredBytes = 0, limitBytes = 0 } = range ?? {}
  if (requiredBytes < 0 || limitBytes < 0) throw new DriverError('INVALID_ARGUMENT', 'capacity_range is negative')
  const limit = limitBytes === 0 ? Infinity : limitBytes
  const wanted = requiredBytes === 0 ? Math.min(capacityBytesDefault, limit) : requiredBytes
  const capacity = Math.max(wanted, config.volumeBytesMin)
  if (capacity > limit) throw new DriverError('OUT_OF_RANGE', `${capacity} bytes exceed the limit of ${limit} bytes`)
  if (capacity > config.volumeBytesMax)
    throw new DriverError(
      'OUT_OF_RANGE',
      `${capacity} bytes exceed the largest volume of ${config.volumeBytesMax} bytes`,
    )
  return capacity
}

export function isInRange(capacity: number, range: Proto<typeof capacityRange> | undefined): boolean {
  const { requiredBytes = 0, limitBytes = 0 } = range ?? {}
  return capacity >= requiredBytes && (limitBytes === 0 || capacity <= limitBytes)
}

/** The space that is left in a segment. */
export function availableBytes({ config, records }: StorageSystem, segments: Segments | undefined): number {
  let used = 0
  for (const { topology, capacityBytes } of records.volumes.values())
    if (topology === undefined || segments === undefined || includes(segments, topology)) used += capacityBytes
  return Math.max(0, config.capacityBytes - used)
}

/** The first preferred segment with space, or else the first requisite one; undefined for nodes without topology. */
export function chooseTopology(
  storage: StorageSystem,
  requirement: Proto<typeof topologyRequirement> | undefined,
  bytes: number,
): Segments | undefined {
  const known = storage.nodes.values().map(({ topology }) => topology)
  const places = [...known].filter((topology) => Object.keys(topology).length > 0)
  if (places.length === 0) return ensureSpace(storage, undefined, bytes)
  const wanted = [...(requirement?.preferred ?? []), ...(requirement?.requisite ?? [])]
  const allowed =
    wanted.length === 0 ? places : wanted.flatMap(({ segments }) => places.filter((place) => includes(place, segments)))
  if (allowed.length === 0)
    throw new DriverError('RESOURCE_EXHAUSTED', 'no segment of the accessibility requirements is known')
  const place = allowed.find((segments) => availableBytes(storage, segments) >= bytes)
  if (place === undefined) throw outOfSpace(bytes)
  return place
}

function ensureSpace(storage: StorageSystem, segments: Segments | undefined, bytes: number): undefined {
  if (availableBytes(storage, segments) < bytes) throw outOfSpace(bytes)
}

const outOfSpace = (bytes: number) => new DriverError('RESOURCE_EXHAUSTED', `no space is left for ${bytes} bytes`)

/** Whether a place has all of these segments. */
export const includes = (place: Segments, segments: Segments): boolean =>
  Object.entries(segments).every(([key, value]) => lookup(place, key) === value)
