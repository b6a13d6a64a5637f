// The capacity publisher: CSIStorageCapacity objects for each storage class of the driver and each topology segment, so
// that the scheduler selects nodes with enough space. Upstream: external-provisioner with --enable-capacity.
import type { Context } from '../../../base/observability/context.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import { ignoring } from '../../../api/errors/status-error.ts'
import { csiNode } from '../../../api/storage/v1/csi-node.ts'
import {
  csiStorageCapacity,
  type CSIStorageCapacity,
  type CSIStorageCapacityInput,
} from '../../../api/storage/v1/csi-storage-capacity.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { storageClass, type StorageClass } from '../../../api/storage/v1/storage-class.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import { driverParameters } from '../sidecar/class-parameters.ts'
import { bytesText } from '../sidecar/quantities.ts'
import { watch, type Sidecar, type SidecarTools } from '../sidecar/sidecar.ts'
import { segmentsInCluster, type Segments } from './claim-topology.ts'

export interface CapacityOptions {
  /** The namespace of the objects: that of the driver's deployment. */
  readonly namespace: string
  /** Also for classes whose claims are not scheduled before they are provisioned. */
  readonly forImmediateBinding?: boolean
}

const driverLabel = 'csi.storage.k8s.io/drivername'
const managerLabel = 'csi.storage.k8s.io/managed-by'
const pollEveryMs = 60_000
/** All objects are reconciled together. */
const everything = 'capacity'

export const capacityPublisher =
  (options: CapacityOptions) =>
  (tools: SidecarTools): Sidecar => ({
    name: 'external-provisioner capacity',
    watches: [
      watch(storageClass, () => [everything]),
      watch(node, () => [everything]),
      watch(csiNode, () => [everything]),
      watch(persistentVolume, () => [everything]),
      watch(csiStorageCapacity, () => [everything]),
    ],
    async reconcile(_key, context) {
      await publish(tools, options, context)
      return pollEveryMs
    },
  })

async function publish(tools: SidecarTools, options: CapacityOptions, context: Context): Promise<void> {
  const { client, informers, driver } = tools
  const isOwn = ({ metadata }: CSIStorageCapacity) =>
    metadata.namespace === options.namespace && metadata.labels?.[driverLabel] === driver.name
  const existing = [...informers.of(csiStorageCapacity).all()].filter(isOwn)
  const objects = client.of(csiStorageCapacity)
  const kept = new Set<string>()
  for (const wanted of await wantedObjects(tools, options, context)) {
    const found = existing.find((object) => isSamePlace(object, wanted) && !kept.has(object.metadata.name))
    if (found === undefined) {
      await objects.create(wanted, options.namespace, context)
      continue
    }
    kept.add(found.metadata.name)
    const { capacity, maximumVolumeSize } = wanted
    if (found.capacity !== capacity || found.maximumVolumeSize !== maximumVolumeSize)
      await objects.update({ ...found, ...sizes(capacity, maximumVolumeSize) }, context)
  }
  for (const { metadata } of existing)
    if (!kept.has(metadata.name))
      await objects.delete(metadata.name, options.namespace, {}, context).catch(ignoring('NotFound'))
}

const sizes = (capacity: string | undefined, maximumVolumeSize: string | undefined) => ({
  ...(capacity === undefined ? {} : { capacity }),
  ...(maximumVolumeSize === undefined ? {} : { maximumVolumeSize }),
})

const isSamePlace = (
  { storageClassName, nodeTopology }: Pick<CSIStorageCapacity, 'storageClassName' | 'nodeTopology'>,
  other: CSIStorageCapacityInput,
): boolean =>
  storageClassName === other.storageClassName && equalValues(nodeTopology?.matchLabels, other.nodeTopology?.matchLabels)

async function wantedObjects(
  { informers, driver }: SidecarTools,
  { forImmediateBinding = false }: CapacityOptions,
  context: Context,
): Promise<readonly CSIStorageCapacityInput[]> {
  const classes = [...informers.of(storageClass).all()].filter(
    ({ provisioner, volumeBindingMode }) =>
      provisioner === driver.name && (forImmediateBinding || volumeBindingMode === 'WaitForFirstConsumer'),
  )
  const nodes = [...informers.of(node).all()]
  const csiNodes = [...informers.of(csiNode).all()]
  const found = segmentsInCluster({ driverName: driver.name, nodes, csiNodes })
  // Without topology, one object is for all nodes.
  const segments = driver.capabilities.has('VOLUME_ACCESSIBILITY_CONSTRAINTS') ? found : [{}]
  const places = classes.flatMap((each) => segments.map((segment) => [each, segment] as const))
  return Promise.all(
    places.map(async ([{ metadata, parameters = {} }, segment]) => {
      const request = {
        parameters: driverParameters(parameters),
        ...(Object.keys(segment).length === 0 ? {} : { accessibleTopology: { segments: segment } }),
      }
      const { availableCapacity, maximumVolumeSize } = await driver.call(
        controllerService.getCapacity,
        request,
        context,
      )
      return capacityObject(driver.name, metadata.name, segment, availableCapacity, maximumVolumeSize?.value)
    }),
  )
}

const capacityObject = (
  driverName: string,
  storageClassName: StorageClass['metadata']['name'],
  segment: Segments,
  bytes: number,
  bytesMax: number | undefined,
): CSIStorageCapacityInput => ({
  metadata: {
    generateName: 'csisc-',
    labels: { [driverLabel]: driverName, [managerLabel]: 'external-provisioner' },
  },
  nodeTopology: { matchLabels: segment },
  storageClassName,
  capacity: bytesText(bytes),
  ...(bytesMax === undefined ? {} : { maximumVolumeSize: bytesText(bytesMax) }),
})
