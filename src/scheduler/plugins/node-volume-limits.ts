// NodeVolumeLimits: a storage driver can attach so many volumes to a node and no more.
import type { PersistentVolumeClaim } from '../../api/core/v1/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/persistent-volume.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { keyOf } from '../../api/object.ts'
import { csiNode } from '../../api/storage/v1/csi-node.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import type { Informers } from '../../client/informers.ts'
import { defineSchedulerPlugin, rejection, skip, type Cycle } from '../framework.ts'
import { concernsClaims, StorageLookup, storageKinds } from './pod-claims.ts'

const tooMany = rejection('node(s) exceed max volume count', true)

/** Volumes by what identifies them, each with its driver. */
type Volumes = ReadonlyMap<string, string>

export const nodeVolumeLimits = defineSchedulerPlugin<Volumes, never>({
  name: 'NodeVolumeLimits',
  watches: [...storageKinds, csiNode, volumeAttachment],
  wakesOn: ['node-added', 'object-changed', 'pod-removed'],
  canHelp: (event, pod) => event.kind !== 'object-changed' || concernsClaims(event.resource, event.now, pod),
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
  const drivers = informers.of(csiNode).get(snapshot.nameAt(slot))?.spec.drivers ?? []
  const limits = new Map(
    drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    ),
  )
  if (![...wanted.values()].some((driver) => limits.has(driver))) return true
  const all = new Map([...wanted, ...attachedTo(snapshot.nameAt(slot), lookup, informers)])
  for (const { pod } of snapshot.podsOn(slot)) for (const [id, driver] of volumesOf(pod, lookup)) all.set(id, driver)
  const counts = new Map<string, number>()
  for (const driver of all.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1)
  return [...new Set(wanted.values())].every((driver) => (counts.get(driver) ?? 0) <= (limits.get(driver) ?? Infinity))
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

/** A claim that has no volume yet will have one of its class's driver. */
function identity(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  lookup: StorageLookup,
): [string, string] {
  if (volume === undefined) return [`claim ${keyOf(claim)}`, lookup.classOf(claim)?.provisioner ?? '']
  const { csi } = volume.spec
  return csi === undefined ? ['', ''] : [`${csi.driver} ${csi.volumeHandle}`, csi.driver]
}

function attachedTo(nodeName: string, lookup: StorageLookup, informers: Informers): [string, string][] {
  const attachments = informers.of(volumeAttachment)
  attachments.addIndex('node', ({ spec }) => [spec.nodeName])
  return attachments.objects('node', nodeName).flatMap(({ spec }) => {
    const name = spec.source.persistentVolumeName
    const csi = name === undefined ? undefined : lookup.volume(name)?.spec.csi
    return csi === undefined ? [] : [[`${csi.driver} ${csi.volumeHandle}`, csi.driver] as [string, string]]
  })
}
