// VolumeZone: a volume with zone labels can only be used in that zone.
import { lookup } from '../../../base/collections/lookup.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { defineSchedulerPlugin, rejection, skip } from '../../framework/framework.ts'
import { concernsClaims, StorageLookup, storageKinds } from './pod-claims.ts'

const otherZone = rejection('node(s) had no available volume zone', false)

const zoneKeys = [
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
]

interface ZoneDemand {
  readonly key: string
  readonly values: ReadonlySet<string>
}

export const volumeZone = defineSchedulerPlugin<readonly ZoneDemand[], never>({
  name: 'VolumeZone',
  watches: storageKinds,
  eventsToRegister: ['node-added', 'node-changed', 'object-changed'],
  queueingHint: (event, pod) => event.kind !== 'object-changed' || concernsClaims(event.resource, event.now, pod),
  configure(_args, { informers }) {
    const storage = new StorageLookup(informers)
    return {
      preFilter({ pod }) {
        if (pod.spec.volumes === undefined) return skip
        const bound = storage.boundOf(pod)
        const missing = bound.find(({ claim, volume }) => claim.spec.volumeName && volume === undefined)
        if (missing !== undefined)
          return rejection(`persistentvolume ${JSON.stringify(missing.claim.spec.volumeName)} not found`, false)
        const demands = bound.flatMap(({ volume }) => (volume === undefined ? [] : demandsOf(volume)))
        return demands.length === 0 ? skip : { kind: 'check', state: demands }
      },
      filter({ snapshot }, slot, demands) {
        const labels = snapshot.nodeAt(slot)?.metadata.labels
        return demands.every(({ key, values }) => meets(labels, key, values)) ? undefined : otherZone
      },
    }
  },
})

/** One label value may list several zones, separated by two underscores. */
const demandsOf = ({ metadata: { labels } }: PersistentVolume): ZoneDemand[] =>
  zoneKeys.flatMap((key) => {
    const zones = lookup(labels, key)
    return zones === undefined ? [] : [{ key, values: new Set(zones.split('__')) }]
  })

/** A node with the current name of a label matches a volume with the deprecated name. */
function meets(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
  values: ReadonlySet<string>,
): boolean {
  const newer = key.replace('failure-domain.beta.kubernetes.io', 'topology.kubernetes.io')
  const value = lookup(labels, key) ?? lookup(labels, newer)
  return value !== undefined && values.has(value)
}
