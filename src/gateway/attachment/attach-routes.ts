// Decides to which listeners the routes attach: by the name and port in their parent references, the kinds and namespaces that
// listeners allow, and hostnames. Pure.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { selectorOf, matchesLabels, type Labels } from '../../api/selectors/selectors.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { Listener } from '../kinds/gateway-kinds.ts'
import type { AnyRoute, ParentReference } from '../kinds/route-kinds.ts'
import type { GatewayVerdict } from './evaluate-gateways.ts'
import { matchesPerNamespaceMax } from './gateway-limits.ts'
import { commonHostnames } from './hostnames.ts'
import type { ListenerVerdict } from './listener-verdict.ts'
import { met, unmet, type Outcome } from './outcome.ts'
import { TakenHostnames } from './taken-hostnames.ts'
import type { OnUnservable } from './unservable.ts'
import { olderFirst } from '../../ingress/routing/older-first.ts'

/** A listener that serves a route, with the hostnames of the route there. */
export interface Attachment {
  readonly listener: ListenerVerdict
  /** An empty name stands for every name. */
  readonly hostnames: readonly string[]
}

export interface ParentVerdict {
  readonly parentRef: ParentReference
  readonly accepted: Outcome
  /** Empty unless the route is accepted. */
  readonly attachments: readonly Attachment[]
}

export interface RouteVerdict {
  readonly route: AnyRoute
  /** One for each reference to a Gateway of this controller. */
  readonly parents: readonly ParentVerdict[]
}

export interface AttachSources {
  namespaceLabels(name: string): Labels | undefined
  /** Whether at least one rule of the route can be served, and its matches. */
  compiled(route: AnyRoute): { readonly rules: Outcome; readonly templates: readonly unknown[] }
}

/** What routes of all Gateways have taken, the older first. */
interface Taken {
  readonly hostnames: TakenHostnames
  readonly matches: MatchBudget
}

/**
 * Older routes first: of an HTTPRoute and a GRPCRoute with common hostnames, a listener accepts the older. A route that cannot be
 * read is attached nowhere, and does not affect others.
 */
export function* attachRoutes(
  routes: readonly AnyRoute[],
  gateways: readonly GatewayVerdict[],
  sources: AttachSources,
  onUnservable: OnUnservable,
  slice: Slice,
): Sliced<readonly RouteVerdict[]> {
  const byKey = new Map(gateways.map((verdict) => [keyOf(verdict.gateway), verdict]))
  const taken: Taken = { hostnames: new TakenHostnames(), matches: new MatchBudget() }
  const verdicts: RouteVerdict[] = []
  for (const route of routes.toSorted((a, b) => olderFirst(a.object, b.object))) {
    try {
      verdicts.push({ route, parents: parentsOf(route, byKey, taken, sources) })
    } catch (error) {
      onUnservable(route.kind, route.object, error)
      verdicts.push({ route, parents: [] })
    }
    if (slice.isUsedUp()) yield
  }
  return verdicts
}

function parentsOf(
  route: AnyRoute,
  byKey: ReadonlyMap<ObjectKey, GatewayVerdict>,
  taken: Taken,
  sources: AttachSources,
): readonly ParentVerdict[] {
  return (route.object.spec.parentRefs ?? []).flatMap((parentRef) => {
    const gateway = byKey.get(parentKey(route, parentRef) ?? '')
    return gateway === undefined ? [] : [attach(route, parentRef, gateway, taken, sources)]
  })
}

/** Undefined if the parent is not a Gateway. */
function parentKey({ object }: AnyRoute, parentRef: ParentReference): ObjectKey | undefined {
  const { group = gatewayGroup, kind = 'Gateway', namespace = namespaceOf(object), name } = parentRef
  return group === gatewayGroup && kind === 'Gateway' ? objectKey(namespace, name) : undefined
}

function attach(
  route: AnyRoute,
  parentRef: ParentReference,
  gateway: GatewayVerdict,
  taken: Taken,
  sources: AttachSources,
): ParentVerdict {
  const { sectionName, port } = parentRef
  const rejected = (outcome: Outcome): ParentVerdict => ({ parentRef, accepted: outcome, attachments: [] })
  const named = gateway.listeners.filter(
    ({ listener }) =>
      (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port),
  )
  if (named.length === 0)
    return rejected(unmet('NoMatchingParent', `the Gateway has no listener ${listenerText(parentRef)}`))
  const allowed = named.filter((each) => each.supportedKinds.includes(route.kind) && isAllowed(route, each, sources))
  if (allowed.length === 0)
    return rejected(
      unmet('NotAllowedByListeners', `no listener allows a ${route.kind} of namespace ${namespaceOf(route.object)}`),
    )
  const common = allowed
    .map((listener) => ({
      listener,
      hostnames: commonHostnames(listener.listener.hostname, route.object.spec.hostnames),
    }))
    .filter(({ hostnames }) => hostnames.length > 0)
  if (common.length === 0)
    return rejected(unmet('NoMatchingListenerHostname', 'no listener has a hostname of the route'))
  const { rules, templates } = sources.compiled(route)
  if (!rules.isMet) return rejected(rules)
  const attachments = common.filter(({ listener: { listener }, hostnames }) =>
    taken.hostnames.take(route.kind, listener, hostnames),
  )
  if (attachments.length === 0)
    return rejected(unmet('HostnameConflict', `an older route of another kind has a common hostname`))
  const matches = attachments.reduce((sum, { hostnames }) => sum + hostnames.length * templates.length, 0)
  const home = namespaceOf(gateway.gateway)
  if (!taken.matches.take(home, matches))
    return rejected(
      unmet(
        'TooManyMatches',
        `routes have ${matchesPerNamespaceMax} matches at the Gateways of namespace ${home} already`,
      ),
    )
  return { parentRef, accepted: met('Accepted', 'the route is accepted'), attachments }
}

const listenerText = ({ sectionName, port }: ParentReference): string =>
  [sectionName === undefined ? '' : sectionName, port === undefined ? '' : `with port ${port}`].join(' ').trim()

function isAllowed({ object }: AnyRoute, { listener, gateway }: ListenerVerdict, sources: AttachSources): boolean {
  const { from = 'Same', selector } = listener.allowedRoutes?.namespaces ?? {}
  const namespace = namespaceOf(object)
  switch (from) {
    case 'All':
      return true
    case 'Same':
      return namespace === namespaceOf(gateway)
    case 'Selector':
      return isSelected(selector, sources.namespaceLabels(namespace))
    default:
      return from satisfies never
  }
}

const operators = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

/** A selector with an unknown operator selects nothing; the schema does not restrict operators. */
function isSelected(
  selector: NonNullable<NonNullable<Listener['allowedRoutes']>['namespaces']>['selector'],
  labels: Labels | undefined,
): boolean {
  const requirements = selectorOf(selector)
  return (
    requirements !== undefined &&
    requirements.every(({ operator }) => operators.has(operator)) &&
    matchesLabels(requirements, labels)
  )
}

/** How many matches the Gateways of a namespace have. */
class MatchBudget {
  readonly #used = new Map<string, number>()

  /** False if the matches exceed the limit of the namespace. */
  take(namespace: string, matches: number): boolean {
    const used = (this.#used.get(namespace) ?? 0) + matches
    if (used > matchesPerNamespaceMax) return false
    this.#used.set(namespace, used)
    return true
  }
}
