// Reference implementation of the plugins for claims, volumes and devices, as the documentation describes them. Only
// for comparison.
import { quantityNanos, quantityUnits } from '../schema/scalar/quantity.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import type { PersistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../api/core/v1/volume/persistent-volume.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import type { DeviceClass } from '../api/resource/v1/device-class.ts'
import type { ResourceClaim } from '../api/resource/v1/resource-claim.ts'
import type { Device } from '../api/resource/v1/resource-slice-spec.ts'
import type { ResourceSlice } from '../api/resource/v1/resource-slice.ts'
import type { CSIDriver } from '../api/storage/v1/csi-driver.ts'
import type { CSINode } from '../api/storage/v1/csi-node.ts'
import type { CSIStorageCapacity } from '../api/storage/v1/csi-storage-capacity.ts'
import type { StorageClass } from '../api/storage/v1/storage-class.ts'
import type { VolumeAttachment } from '../api/storage/v1/volume-attachment.ts'

/** Objects besides nodes and pods. */
export interface Claimed {
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly classes: readonly StorageClass[]
  readonly csiNodes: readonly CSINode[]
  readonly drivers: readonly CSIDriver[]
  readonly capacities: readonly CSIStorageCapacity[]
  readonly attachments: readonly VolumeAttachment[]
  readonly deviceClasses: readonly DeviceClass[]
  readonly resourceClaims: readonly ResourceClaim[]
  readonly slices: readonly ResourceSlice[]
}

type Named = { readonly metadata: { readonly name: string; readonly namespace?: string } }
const byName = <T extends Named>(list: readonly T[], name: string | undefined, namespace?: string): T | undefined =>
  list.find(({ metadata }) => metadata.name === name && (namespace === undefined || metadata.namespace === namespace))

const claimNames = ({ spec }: Pod) =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: source }) => (source === undefined ? [] : [source.claimName]))
const claimOf = ({ claims }: Claimed, pod: Pod, name: string) => byName(claims, name, pod.metadata.namespace)
const classOf = ({ classes }: Claimed, claim: PersistentVolumeClaim) => byName(classes, claim.spec.storageClassName)
const isBound = ({ spec, metadata }: PersistentVolumeClaim) =>
  (spec.volumeName ?? '') !== '' && metadata.annotations?.['pv.kubernetes.io/bind-completed'] !== undefined
const labelsOf = (object: { metadata: { labels?: Readonly<Record<string, string>> } }) => object.metadata.labels ?? {}

/** The node selectors of this comparison have one term with one `In` expression over a label. */
const reaches = (
  required: NonNullable<PersistentVolume['spec']['nodeAffinity']>['required'] | undefined,
  node: Node,
): boolean =>
  (required?.nodeSelectorTerms ?? [{ matchExpressions: [] }]).some(({ matchExpressions = [], matchFields = [] }) =>
    [
      ...matchExpressions.map(({ key, values = [] }) => values.includes(labelsOf(node)[key] ?? '')),
      ...matchFields.map(({ values = [] }) => values.includes(node.metadata.name)),
    ].every(Boolean),
  )

/** Why the pod is rejected in PreFilter. */
export function referenceProblem(claimed: Claimed, pod: Pod): string | undefined {
  for (const name of claimNames(pod)) {
    const claim = claimOf(claimed, pod, name)
    if (claim === undefined) return `persistentvolumeclaim "${name}" not found`
    if (claim.status.phase === 'Lost')
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec.volumeName ?? ''}"`
    if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`
    const isLate = classOf(claimed, claim)?.volumeBindingMode === 'WaitForFirstConsumer'
    if (!isBound(claim) && (claim.spec.volumeName !== undefined || !isLate))
      return 'pod has unbound immediate PersistentVolumeClaims'
  }
  for (const name of claimNames(pod)) {
    const { volumeName } = claimOf(claimed, pod, name)?.spec ?? {}
    if (volumeName && byName(claimed.volumes, volumeName) === undefined)
      return `persistentvolume "${volumeName}" not found`
  }
  for (const { resourceClaimName: name } of pod.spec.resourceClaims ?? []) {
    const claim = byName(claimed.resourceClaims, name, pod.metadata.namespace)
    if (claim === undefined) return `resourceclaim "${name}" not found`
    if (claim.status.allocation !== undefined) continue
    for (const { name: request, exactly } of claim.spec.devices.requests ?? [])
      if (byName(claimed.deviceClasses, exactly?.deviceClassName) === undefined)
        return `request ${request}: device class ${exactly?.deviceClassName} does not exist`
  }
  return undefined
}

function disks({ spec }: Pod): { id: string; readOnly: boolean }[] {
  return (spec.volumes ?? []).flatMap(({ gcePersistentDisk: gce, awsElasticBlockStore: ebs, iscsi, rbd }) => [
    ...(gce ? [{ id: `gce ${gce.pdName}`, readOnly: gce.readOnly ?? false }] : []),
    ...(ebs ? [{ id: `ebs ${ebs.volumeID}`, readOnly: false }] : []),
    ...(iscsi ? [{ id: `iscsi ${iscsi.iqn}`, readOnly: iscsi.readOnly ?? false }] : []),
    ...(rbd?.monitors ?? []).map((monitor) => ({
      id: `rbd ${monitor} ${rbd?.pool} ${rbd?.image}`,
      readOnly: rbd?.readOnly ?? false,
    })),
  ])
}

function restriction(claimed: Claimed, pod: Pod, here: readonly Pod[], everywhere: readonly Pod[]): string | undefined {
  const exclusive = claimNames(pod).filter((name) =>
    claimOf(claimed, pod, name)?.spec.accessModes?.includes('ReadWriteOncePod'),
  )
  const isUsed = everywhere.some(
    (other) =>
      other.metadata.namespace === pod.metadata.namespace && claimNames(other).some((name) => exclusive.includes(name)),
  )
  if (isUsed)
    return 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'
  const conflict = disks(pod).some((mine) =>
    here.some((other) => disks(other).some((its) => its.id === mine.id && !(its.readOnly && mine.readOnly))),
  )
  return conflict ? 'node(s) had no available disk' : undefined
}

/** The volumes that the driver must attach for the pod. A volume counts once; an unbound claim counts for its class. */
const attachedFor = (claimed: Claimed, pod: Pod): { id: string; driver: string }[] =>
  claimNames(pod).flatMap((name) => {
    const claim = claimOf(claimed, pod, name)
    if (claim === undefined) return []
    const volume = byName(claimed.volumes, claim.spec.volumeName)
    if (volume === undefined) {
      const driver = classOf(claimed, claim)?.provisioner ?? ''
      return driver === '' ? [] : [{ id: `claim ${pod.metadata.namespace}/${name}`, driver }]
    }
    const { csi } = volume.spec
    return csi === undefined ? [] : [{ id: `${csi.driver} ${csi.volumeHandle}`, driver: csi.driver }]
  })

function exceedsLimits(claimed: Claimed, pod: Pod, node: Node, here: readonly Pod[]): boolean {
  const already = claimed.attachments
    .filter(({ spec }) => spec.nodeName === node.metadata.name)
    .flatMap(({ spec }) => {
      const csi = byName(claimed.volumes, spec.source.persistentVolumeName)?.spec.csi
      return csi === undefined ? [] : [{ id: `${csi.driver} ${csi.volumeHandle}`, driver: csi.driver }]
    })
  const wanted = attachedFor(claimed, pod)
  const all = [...already, ...wanted, ...here.flatMap((other) => attachedFor(claimed, other))]
  return wanted.some(({ driver }) => {
    const limit = byName(claimed.csiNodes, node.metadata.name)?.spec.drivers?.find(({ name }) => name === driver)
    const ids = new Set(all.filter((each) => each.driver === driver).map(({ id }) => id))
    return limit?.allocatable?.count !== undefined && ids.size > limit.allocatable.count
  })
}

function bindingReason(claimed: Claimed, pod: Pod, node: Node): string | undefined {
  const claims = claimNames(pod).map((name) => claimOf(claimed, pod, name) as PersistentVolumeClaim)
  for (const claim of claims.filter(isBound)) {
    const volume = byName(claimed.volumes, claim.spec.volumeName)
    if (volume === undefined) return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
    if (!reaches(volume.spec.nodeAffinity?.required, node))
      return "node(s) didn't match PersistentVolume's node affinity"
  }
  const taken = new Set<string>()
  for (const claim of claims.filter((each) => !isBound(each))) {
    const chosen = claim.metadata.annotations?.['volume.kubernetes.io/selected-node']
    const volume = chosen === undefined ? volumeFor(claimed, claim, node, taken) : undefined
    if (volume !== undefined) taken.add(volume.metadata.name)
    else {
      const refusal = makingReason(claimed, claim, node, chosen)
      if (refusal !== undefined) return refusal
    }
  }
  return undefined
}

const sizeOf = (quantities: Readonly<Record<string, string>> | undefined) => quantityUnits(quantities?.['storage'])

function volumeFor(claimed: Claimed, claim: PersistentVolumeClaim, node: Node, taken: ReadonlySet<string>) {
  const { spec } = claim
  const suitable = claimed.volumes.filter(
    (volume) =>
      !taken.has(volume.metadata.name) &&
      volume.spec.storageClassName === spec.storageClassName &&
      volume.spec.claimRef === undefined &&
      volume.status.phase === 'Available' &&
      sizeOf(volume.spec.capacity) >= sizeOf(spec.resources?.requests) &&
      (spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode)) &&
      reaches(volume.spec.nodeAffinity?.required, node),
  )
  const least = Math.min(...suitable.map((volume) => sizeOf(volume.spec.capacity)))
  return suitable.find((volume) => sizeOf(volume.spec.capacity) === least)
}

function makingReason(claimed: Claimed, claim: PersistentVolumeClaim, node: Node, chosen: string | undefined) {
  const none = "node(s) didn't find available persistent volumes to bind"
  const made = classOf(claimed, claim)
  if (made === undefined || made.provisioner === 'kubernetes.io/no-provisioner') return none
  if (chosen !== undefined && chosen !== node.metadata.name) return none
  const isThere = (made.allowedTopologies ?? []).some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(labelsOf(node)[key] ?? '')),
  )
  if ((made.allowedTopologies ?? []).length > 0 && !isThere) return none
  if (byName(claimed.drivers, made.provisioner)?.spec.storageCapacity !== true) return undefined
  const hasSpace = claimed.capacities.some(
    ({ storageClassName, capacity, nodeTopology }) =>
      storageClassName === made.metadata.name &&
      quantityUnits(capacity) >= sizeOf(claim.spec.resources?.requests) &&
      nodeTopology !== undefined &&
      Object.entries(nodeTopology.matchLabels ?? {}).every(([key, value]) => labelsOf(node)[key] === value),
  )
  return hasSpace ? undefined : 'node(s) did not have enough free storage'
}

const zoneKey = 'topology.kubernetes.io/zone'

const isElsewhere = (claimed: Claimed, pod: Pod, node: Node): boolean =>
  claimNames(pod).some((name) => {
    const volume = byName(claimed.volumes, claimOf(claimed, pod, name)?.spec.volumeName)
    const zones = volume === undefined ? undefined : labelsOf(volume)[zoneKey]
    return zones !== undefined && !zones.split('__').includes(labelsOf(node)[zoneKey] ?? '')
  })

/** The first rejection of the volume plugins. `here` and `everywhere` are the pods of this node and of all nodes. */
export function referenceVolumes(
  claimed: Claimed,
  pod: Pod,
  node: Node,
  here: readonly Pod[],
  everywhere: readonly Pod[],
): string | undefined {
  const restricted = restriction(claimed, pod, here, everywhere)
  if (restricted !== undefined) return restricted
  if (exceedsLimits(claimed, pod, node, here)) return 'node(s) exceed max volume count'
  return (
    bindingReason(claimed, pod, node) ??
    (isElsewhere(claimed, pod, node) ? 'node(s) had no available volume zone' : undefined)
  )
}

const nanos = (quantity: string | undefined): bigint => quantityNanos(quantity ?? '0') ?? 0n

interface Holding {
  readonly id: string
  readonly device: Device
  readonly consumed: Readonly<Record<string, bigint>>
}

/** All devices of the driver's pools, with a mark for those that the node can reach. */
const devicesOf = ({ slices }: Claimed, node: Node) =>
  slices.flatMap(({ spec }) =>
    (spec.devices ?? []).map((device) => ({
      id: `${spec.driver}/${spec.pool.name}/${device.name}`,
      pool: spec.pool.name,
      device,
      isHere: spec.allNodes === true || spec.nodeName === node.metadata.name,
    })),
  )

/** Whether this can be held in addition to the others. Existing overcommitment is ignored. */
function isPossible(claimed: Claimed, more: Offered & Holding, held: readonly (Offered & Holding)[]): boolean {
  const { id, device, consumed } = more
  const own = held.filter((each) => each.id === id)
  if (device.allowMultipleAllocations !== true && own.length > 0) return false
  for (const [name, { value }] of Object.entries(device.capacity ?? {}))
    if ([...own, { consumed }].reduce((sum, each) => sum + (each.consumed[name] ?? 0n), 0n) > nanos(value)) return false
  if (own.length > 0) return true
  const distinct = [...new Map([...held, more].map((each) => [each.id, each])).values()]
  return (device.consumesCounters ?? []).every(({ counterSet, counters }) =>
    Object.keys(counters).every((counter) => {
      const drawn = distinct
        .filter(({ pool }) => pool === more.pool)
        .flatMap((each) => each.device.consumesCounters ?? [])
        .filter((each) => each.counterSet === counterSet)
        .reduce((sum, each) => sum + nanos(each.counters[counter]?.value), 0n)
      const sets = claimed.slices.filter(({ spec }) => spec.pool.name === more.pool)
      const set = sets.flatMap(({ spec }) => spec.sharedCounters ?? []).find(({ name }) => name === counterSet)
      return drawn <= nanos(set?.counters[counter]?.value)
    }),
  )
}

/** Tries every assignment of devices to the claims, in the plugin's order. */
export function referenceDevices(claimed: Claimed, pod: Pod, node: Node): string | undefined {
  const claims = (pod.spec.resourceClaims ?? []).map(
    ({ resourceClaimName: name }) => byName(claimed.resourceClaims, name, pod.metadata.namespace) as ResourceClaim,
  )
  for (const { status } of claims)
    if (status.allocation !== undefined && !reaches(status.allocation.nodeSelector, node))
      return 'resourceclaim not available on the node'
  const devices = devicesOf(claimed, node)
  const held = claimed.resourceClaims.flatMap(({ status }) =>
    (status.allocation?.devices.results ?? []).flatMap(({ driver, pool, device: name, consumedCapacity = {} }) => {
      const known = devices.find(({ id }) => id === `${driver}/${pool}/${name}`)
      const consumed = Object.fromEntries(Object.entries(consumedCapacity).map(([key, value]) => [key, nanos(value)]))
      return known === undefined ? [] : [{ ...known, consumed }]
    }),
  )
  let sure = held
  for (const claim of claims.filter(({ status }) => status.allocation === undefined)) {
    const requested = (claim.spec.devices.requests ?? []).flatMap(({ exactly }) =>
      Array.from({ length: Number(exactly?.count ?? 1) }, () => exactly),
    )
    const found = given(claimed, requested, devices, sure)
    if (found === undefined) return 'cannot allocate all claims'
    sure = found
  }
  return undefined
}

type Wanted = NonNullable<NonNullable<ResourceClaim['spec']['devices']['requests']>[number]['exactly']> | undefined
type Offered = ReturnType<typeof devicesOf>[number]

function given(
  claimed: Claimed,
  requested: readonly Wanted[],
  devices: readonly Offered[],
  held: readonly (Offered & Holding)[],
): (Offered & Holding)[] | undefined {
  const [want, ...rest] = requested
  if (want === undefined) return [...held]
  for (const offered of devices) {
    const { device, isHere } = offered
    const models = want.deviceClassName === 'any' ? undefined : want.deviceClassName
    if (!isHere || (models !== undefined && device.attributes?.['model']?.string !== models)) continue
    const asked = want.capacity?.requests ?? {}
    if (Object.entries(asked).some(([name, value]) => nanos(value) > nanos(device.capacity?.[name]?.value))) continue
    if (Object.keys(asked).some((name) => device.capacity?.[name] === undefined)) continue
    const isShared = device.allowMultipleAllocations === true
    const consumed = Object.fromEntries(
      Object.entries(isShared ? (device.capacity ?? {}) : {}).map(([name, { value }]) => [
        name,
        nanos(asked[name] ?? value),
      ]),
    )
    const next = { ...offered, consumed }
    const found = isPossible(claimed, next, held) ? given(claimed, rest, devices, [...held, next]) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
