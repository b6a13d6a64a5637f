// Feeds a ClusterZone from informers. The zone changes in the handler of the informer, so a response is never older than
// the cache of endpoints. An object that the zone cannot read is reported and costs only its own records: an exception would
// end the watch of its kind, again and again.
import { namespace } from '../../api/core/v1/namespace.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { ClusterZone } from './cluster-zone.ts'

export type OnUnreadable = (kind: 'Namespace' | 'Service' | 'EndpointSlice', key: string, error: unknown) => void

/** Resolves when the zone contains every object that existed at the start. */
export async function feedZone(
  zone: Pick<ClusterZone, 'setNamespace' | 'setService' | 'setEndpointSlice'>,
  informers: Pick<Informers, 'of'>,
  onUnreadable: OnUnreadable,
): Promise<void> {
  const [namespaces, services, slices] = [
    informers.of(namespace),
    informers.of(service),
    informers.of(endpointSlice),
  ] as const
  const isolated =
    <T>(kind: Parameters<OnUnreadable>[0], apply: (change: ObjectChange<T>) => void) =>
    (change: ObjectChange<T>) => {
      try {
        apply(change)
      } catch (error) {
        onUnreadable(kind, change.key, error)
      }
    }
  namespaces.onChange(isolated('Namespace', ({ key, now }) => zone.setNamespace(key, now !== undefined)))
  services.onChange(isolated('Service', ({ before, now }) => zone.setService(before, now)))
  slices.onChange(isolated('EndpointSlice', ({ before, now }) => zone.setEndpointSlice(before, now)))
  await Promise.all([namespaces.synced, services.synced, slices.synced])
}
