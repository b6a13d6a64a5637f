// Which changes of a Service concern its load balancer, and the events that announce them.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ServiceSpec } from '../../api/core/v1/service/service-spec.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { hasFinalizer } from '../../api/meta/finalizers.ts'
import { equalValues } from '../../schema/json/json-value.ts'

export const cleanUpFinalizer = 'service.kubernetes.io/load-balancer-cleanup'

/** A Service with a class is left to the implementation of that class. */
export const needsLoadBalancer = ({ spec }: Service): boolean =>
  spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined

/** The Service may still have a load balancer, and must not have one. */
export const needsCleanUp = (service: Service): boolean =>
  hasFinalizer(service, cleanUpFinalizer) && (isBeingDeleted(service) || service.spec.type !== 'LoadBalancer')

/** What changed for the load balancer. The event is absent where upstream records none. */
export type ServiceChange = { readonly event?: EventNote }

/** The first change that concerns the load balancer; undefined when nothing does. */
export function changeOf(before: Service, now: Service): ServiceChange | undefined {
  const old = before.spec
  const spec = now.spec
  if (!needsLoadBalancer(before) && !needsLoadBalancer(now)) return undefined
  if (needsLoadBalancer(before) !== needsLoadBalancer(now)) return changed('Type', old.type, spec.type)
  if (!equalValues(old.loadBalancerSourceRanges, spec.loadBalancerSourceRanges))
    return changed('LoadBalancerSourceRanges', listText(old), listText(spec))
  if (!equalValues(old.ports, spec.ports)) return {}
  if (old.sessionAffinity !== spec.sessionAffinity) return {}
  if (!equalValues(old.sessionAffinityConfig, spec.sessionAffinityConfig)) return {}
  if (old.loadBalancerIP !== spec.loadBalancerIP)
    return changed('LoadbalancerIP', old.loadBalancerIP ?? '', spec.loadBalancerIP ?? '')
  const externalAddresses = externalAddressChange(old.externalIPs ?? [], spec.externalIPs ?? [])
  if (externalAddresses !== undefined) return externalAddresses
  if (!equalValues(before.metadata.annotations, now.metadata.annotations)) return {}
  if (before.metadata.uid !== now.metadata.uid) return changed('UID', before.metadata.uid, now.metadata.uid)
  if (old.externalTrafficPolicy !== spec.externalTrafficPolicy)
    return changed('ExternalTrafficPolicy', old.externalTrafficPolicy ?? '', spec.externalTrafficPolicy ?? '')
  if (old.healthCheckNodePort !== spec.healthCheckNodePort)
    return changed('HealthCheckNodePort', old.healthCheckNodePort ?? 0, spec.healthCheckNodePort ?? 0)
  const oldFamilies = (old.ipFamilies ?? []).length
  const families = (spec.ipFamilies ?? []).length
  if (oldFamilies !== families) return noted('IPFamilies', `Count: ${oldFamilies} -> ${families}`)
  return undefined
}

const noted = (reason: string, message: string): ServiceChange => ({ event: { type: 'Normal', reason, message } })

const changed = (reason: string, before: string | number, now: string | number): ServiceChange =>
  noted(reason, `${before} -> ${now}`)

const listText = ({ loadBalancerSourceRanges: ranges = [] }: ServiceSpec): string => `[${ranges.join(' ')}]`

function externalAddressChange(before: readonly string[], now: readonly string[]): ServiceChange | undefined {
  if (before.length !== now.length) return noted('ExternalIP', `Count: ${before.length} -> ${now.length}`)
  const added = now.find((address, index) => address !== before[index])
  return added === undefined ? undefined : noted('ExternalIP', `Added: ${added}`)
}
