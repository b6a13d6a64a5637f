// What a registered driver adds to the CSINode and Node objects of its node, as pure functions.
import type { CSINodeDriver } from '../../api/storage/v1/csi-node.ts'

/** What a driver reports of itself and the node (NodeGetInfo). */
export interface DriverNodeInfo {
  readonly nodeId: string
  /** 0: not limited. */
  readonly maxVolumesPerNode: number
  readonly topology: Readonly<Record<string, string>>
}

/** Ids of the node by driver, as JSON. */
export const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid'
const countMax = 2 ** 31 - 1

/** The drivers with this one added or replaced. */
export const withDriver = (
  drivers: readonly CSINodeDriver[],
  name: string,
  info: DriverNodeInfo,
): readonly CSINodeDriver[] => [...withoutDriver(drivers, name), driverEntry(name, info)]

export const withoutDriver = (drivers: readonly CSINodeDriver[], name: string): readonly CSINodeDriver[] =>
  drivers.filter((driver) => driver.name !== name)

/** The drivers with another limit of this one; unchanged if it is not registered. */
export const withLimit = (
  drivers: readonly CSINodeDriver[],
  name: string,
  maxVolumesPerNode: number,
): readonly CSINodeDriver[] =>
  drivers.map((driver) => {
    if (driver.name !== name) return driver
    const { allocatable: _, ...rest } = driver
    return { ...rest, ...limit(maxVolumesPerNode) }
  })

function limit(maxVolumesPerNode: number): Pick<CSINodeDriver, 'allocatable'> {
  const count = Math.min(maxVolumesPerNode, countMax)
  return count > 0 ? { allocatable: { count } } : {}
}

function driverEntry(name: string, { nodeId, maxVolumesPerNode, topology }: DriverNodeInfo): CSINodeDriver {
  const topologyKeys = Object.keys(topology).toSorted()
  return {
    name,
    nodeID: nodeId,
    ...(topologyKeys.length === 0 ? {} : { topologyKeys }),
    ...limit(maxVolumesPerNode),
  }
}

/** The annotation with the id of one driver set, or removed when it is undefined; undefined: no ids are left. */
export function nodeIdsWith(
  annotation: string | undefined,
  name: string,
  nodeId: string | undefined,
): string | undefined {
  const ids = new Map(Object.entries(parsedIds(annotation)))
  if (nodeId === undefined) ids.delete(name)
  else ids.set(name, nodeId)
  return ids.size === 0 ? undefined : JSON.stringify(Object.fromEntries(ids))
}

/** An annotation that is not JSON was not written by a kubelet; it is replaced. */
function parsedIds(annotation: string | undefined): Readonly<Record<string, string>> {
  try {
    const ids: unknown = JSON.parse(annotation ?? '{}')
    return typeof ids === 'object' && ids !== null ? (ids as Record<string, string>) : {}
  } catch {
    return {}
  }
}

/** Labels of the topology; throws when the node is labelled differently. */
export function topologyLabels(
  labels: Readonly<Record<string, string>>,
  topology: DriverNodeInfo['topology'],
): Readonly<Record<string, string>> {
  const known = new Map(Object.entries(labels))
  for (const [key, value] of Object.entries(topology)) {
    const present = known.get(key)
    if (present !== undefined && present !== value)
      throw new Error(
        `detected topology value collision: driver reported ${JSON.stringify(key)}:${JSON.stringify(value)} ` +
          `but existing label is ${JSON.stringify(key)}:${JSON.stringify(present)}`,
      )
  }
  return topology
}
