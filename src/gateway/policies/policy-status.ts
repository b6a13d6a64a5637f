// The status of a BackendTLSPolicy: one entry for each Gateway with a route to a Service that the policy names. Entries of
// other controllers are kept. Pure.
import { namespaceOf } from '../../api/meta/object.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { Gateway } from '../kinds/gateway-kinds.ts'
import type { BackendTlsPolicy, PolicyAncestorStatus } from '../kinds/policy-kinds.ts'
import { mergeConditions } from '../status/merge-conditions.ts'
import type { PolicyVerdict } from './backend-tls.ts'

/** The schema allows no more entries. */
const ancestorsMax = 16

export interface PolicyStatusSources {
  readonly controllerName: string
  /** In the order of their age. */
  readonly gateways: Iterable<Gateway>
  readonly time: string
}

export function policyStatus(
  { policy, accepted, resolvedRefs }: PolicyVerdict,
  { controllerName, gateways, time }: PolicyStatusSources,
): NonNullable<BackendTlsPolicy['status']> {
  const before = policy.status?.ancestors ?? []
  const others = before.filter((each) => each.controllerName !== controllerName)
  const wanted = [
    { type: 'Accepted', outcome: accepted },
    { type: 'ResolvedRefs', outcome: resolvedRefs },
  ]
  const own = Array.from(gateways, (gateway): PolicyAncestorStatus => {
    const { name } = gateway.metadata
    const namespace = namespaceOf(gateway)
    const known = before.find(
      ({ ancestorRef, controllerName: writer }) =>
        writer === controllerName && ancestorRef.name === name && ancestorRef.namespace === namespace,
    )
    return {
      ancestorRef: { group: gatewayGroup, kind: 'Gateway', namespace, name },
      controllerName,
      conditions: mergeConditions(known?.conditions, wanted, { generation: policy.metadata.generation, time }),
    }
  })
  return { ancestors: [...others, ...own].slice(0, ancestorsMax) }
}
