// Feeds a ClusterZone from informers. The zone changes in the handler of the informer, so a response is never older than
// the cache of endpoints.
import { namespace } from '../../api/core/v1/namespace.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { ClusterZone } from './cluster-zone.ts'

/** Resolves when the zone contains every object that existed at the start. */
export async function feedZone(zone: ClusterZone, informers: Pick<Informers, 'of'>): Promise<void> {
  const [namespaces, services, slices] = [
    informers.of(namespace),
    informers.of(service),
    informers.of(endpointSlice),
  ] as const
  namespaces.onChange(({ key, now }) => zone.setNamespace(key, now !== undefined))
  services.onChange(({ before, now }) => zone.setService(before, now))
  slices.onChange(({ before, now }) => zone.setEndpointSlice(before, now))
  await Promise.all([namespaces.synced, services.synced, slices.synced])
}
