// ServiceCIDR: sets the Ready condition of new ranges. A deleted range is kept while Services use addresses of it that
// no other range contains.
import { cidrContains, cidrHasAddress, type Cidr } from '../base/net/cidr.ts'
import { parseIp, type IpAddress } from '../base/net/ip-address.ts'
import { parseCidrsSloppy } from '../base/net/sloppy-address.ts'
import { rfc3339 } from '../base/time/clock.ts'
import { ipAddress } from '../api/networking/v1/ip-address.ts'
import { serviceCidr, type ServiceCIDR } from '../api/networking/v1/service-cidr.ts'
import type { Kind } from '../api/kind/kind.ts'
import type { Condition } from '../api/meta/v1/condition.ts'
import { isBeingDeleted, keyOf, type ObjectKey } from '../api/meta/object.ts'
import { defineController, type Plan, type PlanView } from './runtime/controller.ts'
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../api/meta/finalizers.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
/** The time in which all API servers observe the deletion and stop allocating from the range. */
const deletionGraceMs = 10_000

const ending = (view: Pick<PlanView, 'all'>): ObjectKey[] => view.all(serviceCidr).filter(isBeingDeleted).map(keyOf)

export const serviceCidrController = defineController<ServiceCIDR>({
  name: 'service-cidr',
  account: 'service-cidrs-controller',
  reconciles: serviceCidr,
  owns: [],
  watches: [
    { kind: ipAddress, enqueues: (_, view) => ending(view) },
    { kind: serviceCidr, enqueues: (_, view) => ending(view) },
  ],
  plan: (range, view) => (isBeingDeleted(range) ? planDeletion(range, view) : planLive(range, view.nowMs)),
})

function planLive(range: ServiceCIDR, nowMs: number): Plan {
  const ready = { status: 'True' as const, reason: '', message: 'Kubernetes Service CIDR is ready' }
  const isReady = conditionOf(range)?.status === 'True'
  const status = isReady ? {} : { status: withCondition(range, ready, nowMs) }
  const changes = hasFinalizer(range, finalizer) ? [] : [rewritten(withFinalizer(range, finalizer))]
  return { changes, ...status }
}

function planDeletion(range: ServiceCIDR, view: PlanView): Plan {
  if (!hasFinalizer(range, finalizer)) return { changes: [] }
  if (isNeeded(range, view)) {
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'
    return {
      changes: [],
      status: withCondition(range, { status: 'False', reason: 'Terminating', message }, view.nowMs),
    }
  }
  const waitMs = Date.parse(range.metadata.deletionTimestamp ?? '') + deletionGraceMs - view.nowMs
  if (waitMs > 0) return { changes: [], requeueAfterMs: waitMs }
  return { changes: [rewritten(withoutFinalizer(range, finalizer))] }
}

/** Whether an address of the range is in use that no other range contains. */
function isNeeded(range: ServiceCIDR, view: PlanView): boolean {
  const own = cidrsOf(range)
  const others = view
    .all(serviceCidr)
    .filter((other) => other.metadata.name !== range.metadata.name && !isBeingDeleted(other))
    .flatMap(cidrsOf)
  const uncovered = own.filter((cidr) => !others.some((other) => cidrContains(other, cidr)))
  if (uncovered.length === 0) return false
  const lies = (within: readonly Cidr[], address: IpAddress) => within.some((cidr) => cidrHasAddress(cidr, address))
  // The name of an IPAddress is the address.
  return view.all(ipAddress).some(({ metadata }) => {
    const address = parseIp(metadata.name)
    return address !== undefined && lies(uncovered, address) && !lies(others, address)
  })
}

const cidrsOf = ({ spec }: ServiceCIDR): readonly Cidr[] => parseCidrsSloppy(spec.cidrs ?? [])

const conditionOf = ({ status }: ServiceCIDR): Condition | undefined =>
  status.conditions?.find(({ type }) => type === 'Ready')

function withCondition(
  range: ServiceCIDR,
  verdict: Pick<Condition, 'status' | 'reason' | 'message'>,
  nowMs: number,
): ServiceCIDR['status'] {
  const known = conditionOf(range)
  const lastTransitionTime = known?.status === verdict.status ? known.lastTransitionTime : rfc3339(nowMs)
  const others = (range.status.conditions ?? []).filter(({ type }) => type !== 'Ready')
  return { ...range.status, conditions: [...others, { type: 'Ready', ...verdict, lastTransitionTime }] }
}

const rewritten = (object: ServiceCIDR): Plan['changes'][number] => ({
  kind: 'update',
  of: serviceCidr as unknown as Kind,
  object,
})
