// NodeVolumeLimits: a CSI driver can attach a limited number of volumes to a node.
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { keyOf } from '../../../api/meta/object.ts'
import { csiNode, type CSINode } from '../../../api/storage/v1/csi-node.ts'
import { volumeAttachment, type VolumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import type { Informers } from '../../../client/informer/informers.ts'
import { defineSchedulerPlugin, rejection, skip, type Cycle } from '../../framework/framework.ts'
import { concernsClaims, StorageLookup, storageKinds } from './pod-claims.ts'

const tooMany = rejection('node(s) exceed max volume count', true)

/** The driver of each volume, by the volume's identity. */
type Volumes = ReadonlyMap<string, string>

export const nodeVolumeLimits = defineSchedulerPlugin<Volumes, never>({
  name: 'NodeVolumeLimits',
  watches: [...storageKinds, csiNode, volumeAttachment],
  eventsToRegister: ['node-added', 'object-changed', 'pod-removed'],
  queueingHint: (event, pod) => event.kind !== 'object-changed' || concernsClaims(event.resource, event.now, pod),
  configure(_args, { informers }) {
    const lookup = new StorageLookup(informers)
    return {
      preFilter({ pod }) {
        const wanted = volumesOf(pod, lookup)
        return wanted.size === 0 ? skip : { kind: 'check', state: wanted }
      },
      filter: (cycle, slot, wanted) => (fits(cycle, slot, wanted, lookup, informers) ? undefined : tooMany),
    }
  },
})

function fits(
  { snapshot }: Cycle,
  slot: number,
  wanted: Volumes,
  lookup: StorageLookup,
  informers: Informers,
): boolean {
  const name = snapshot.nameAt(slot)
  const limits = limitsOf(informers.of(csiNode).get(name))
  let least = Infinity
  for (const driver of wanted.values()) least = Math.min(least, limits.get(driver) ?? Infinity)
  if (least === Infinity) return true
  const attached = attachmentsOf(name, informers)
  // If all volumes of all drivers are below the limit, duplicates need not be resolved.
  let atMost = wanted.size + attached.length
  for (const { pod } of snapshot.podsOn(slot)) atMost += pod.spec.volumes?.length ?? 0
  if (atMost <= least) return true
  const all = new Map([...wanted, ...attached.flatMap((attachment) => attachedVolume(attachment, lookup))])
  for (const { pod } of snapshot.podsOn(slot)) for (const [id, driver] of volumesOf(pod, lookup)) all.set(id, driver)
  const counts = new Map<string, number>()
  for (const driver of all.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1)
  return [...new Set(wanted.values())].every((driver) => (counts.get(driver) ?? 0) <= (limits.get(driver) ?? Infinity))
}

type Limits = ReadonlyMap<string, number>
const noLimits: Limits = new Map()
const limitsKnown = new WeakMap<CSINode, Limits>()

function limitsOf(node: CSINode | undefined): Limits {
  if (node === undefined) return noLimits
  const known = limitsKnown.get(node)
  if (known !== undefined) return known
  const counts = (node.spec.drivers ?? []).flatMap(({ name, allocatable }) =>
    allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
  )
  const limits = new Map(counts)
  limitsKnown.set(node, limits)
  return limits
}

function volumesOf(pod: Pod, lookup: StorageLookup): Map<string, string> {
  const volumes = new Map<string, string>()
  if (pod.spec.volumes === undefined) return volumes
  for (const { claim, volume } of lookup.boundOf(pod)) {
    const [id, driver] = identity(claim, volume, lookup)
    if (driver !== '') volumes.set(id, driver)
  }
  return volumes
}

/** A claim without a volume counts for the driver of its class. */
function identity(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  lookup: StorageLookup,
): [string, string] {
  if (volume === undefined) return [`claim ${keyOf(claim)}`, lookup.classOf(claim)?.provisioner ?? '']
  const { csi } = volume.spec
  return csi === undefined ? ['', ''] : [`${csi.driver} ${csi.volumeHandle}`, csi.driver]
}

function attachmentsOf(nodeName: string, informers: Informers): VolumeAttachment[] {
  const attachments = informers.of(volumeAttachment)
  attachments.addIndex('node', ({ spec }) => [spec.nodeName])
  return attachments.byIndex('node', nodeName)
}

function attachedVolume({ spec }: VolumeAttachment, lookup: StorageLookup): [string, string][] {
  const name = spec.source.persistentVolumeName
  const csi = name === undefined ? undefined : lookup.volume(name)?.spec.csi
  return csi === undefined ? [] : [[`${csi.driver} ${csi.volumeHandle}`, csi.driver]]
}
