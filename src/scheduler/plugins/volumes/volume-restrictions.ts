// VolumeRestrictions: a disk that only one node may write is used on one node, and a ReadWriteOncePod claim by one pod.
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { defineSchedulerPlugin, rejection, skip, type Cycle, type SchedulerPlugin } from '../../framework/framework.ts'
import { claimsOf, concernsClaims, StorageLookup } from './pod-claims.ts'

const inUse = rejection(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  true,
)
const diskConflict = rejection('node(s) had no available disk', true)

interface Restricted {
  readonly disks: readonly Disk[]
  /** Keys of the pod's ReadWriteOncePod claims. */
  readonly exclusive: ReadonlySet<string>
  /** Number of pods that use one of them. */
  users: number
}

interface Disk {
  readonly id: string
  /** Whether several pods may read it. */
  readonly isShared: boolean
}

export const volumeRestrictions = defineSchedulerPlugin<Restricted, never>({
  name: 'VolumeRestrictions',
  watches: [persistentVolumeClaim],
  eventsToRegister: ['node-added', 'object-changed', 'pod-removed'],
  queueingHint: (event, pod) => event.kind !== 'object-changed' || concernsClaims(event.resource, event.now, pod),
  ...points(() => false),
  configure(_args, { informers }) {
    const lookup = new StorageLookup(informers)
    return points((key) => lookup.claim(key)?.spec.accessModes?.includes('ReadWriteOncePod') ?? false)
  },
})

function points(isExclusive: (claimKey: string) => boolean): Partial<SchedulerPlugin<Restricted, never>> {
  return {
    preFilter(cycle) {
      const { pod } = cycle
      const disks = disksOf(pod)
      const exclusive = new Set(claimsOf(pod).flatMap(({ key }) => (isExclusive(key) ? [key] : [])))
      if (disks.length === 0 && exclusive.size === 0) return skip
      return { kind: 'check', state: { disks, exclusive, users: usersOf(cycle, exclusive) } }
    },
    filter({ snapshot }, slot, { disks, users }) {
      if (users > 0) return inUse
      for (const { pod } of disks.length === 0 ? [] : snapshot.podsOn(slot))
        if (disksOf(pod).some((a) => disks.some((b) => a.id === b.id && !(a.isShared && b.isShared))))
          return diskConflict
      return undefined
    },
    updateState(_cycle, state, { pod }, by) {
      if (uses(pod, state.exclusive)) state.users += by
    },
  }
}

const uses = (pod: Pod, claims: ReadonlySet<string>): boolean => claimsOf(pod).some(({ key }) => claims.has(key))

function usersOf({ snapshot }: Cycle, exclusive: ReadonlySet<string>): number {
  if (exclusive.size === 0) return 0
  const counts = snapshot.counts.of(`claims ${[...exclusive].join()}`, (other) => uses(other, exclusive))
  return snapshot.order.reduce((sum, slot) => sum + (counts[slot] as number), 0)
}

const disksOf = ({ spec }: Pod): Disk[] =>
  (spec.volumes ?? []).flatMap(({ gcePersistentDisk: gce, awsElasticBlockStore: ebs, iscsi, rbd }) => {
    if (gce !== undefined) return [{ id: `gce ${gce.pdName}`, isShared: gce.readOnly ?? false }]
    if (ebs !== undefined) return [{ id: `ebs ${ebs.volumeID}`, isShared: false }]
    if (iscsi !== undefined) return [{ id: `iscsi ${iscsi.iqn}`, isShared: iscsi.readOnly ?? false }]
    if (rbd === undefined) return []
    return rbd.monitors.map((monitor) => ({
      id: `rbd ${monitor} ${rbd.pool} ${rbd.image}`,
      isShared: rbd.readOnly ?? false,
    }))
  })
