// Decides to which listeners the routes attach: by the name and port in their parent references, the kinds and namespaces that
// listeners allow, and hostnames. Pure.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { AnyRoute, ParentReference } from '../kinds/route-kinds.ts'
import { AllowedNamespaces } from './allowed-namespaces.ts'
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

/** What routes have taken, the older first, and what is known of listeners. */
interface Attaching {
  readonly allowed: AllowedNamespaces
  readonly hostnames: TakenHostnames
  readonly matches: MatchBudget
}

/**
 * Older routes first: of an HTTPRoute and a GRPCRoute with common hostnames, a listener accepts the older. A route that
 * cannot be read is attached nowhere, and does not affect others.
 */
export function* attachRoutes(
  routes: readonly AnyRoute[],
  gateways: readonly GatewayVerdict[],
  sources: AttachSources,
  onUnservable: OnUnservable,
  slice: Slice,
): Sliced<readonly RouteVerdict[]> {
  const byKey = new Map<string, RouteParent>(
    gateways.flatMap((verdict) => [
      [parentText('Gateway', keyOf(verdict.gateway)), verdict] as const,
      ...verdict.listenerSets.map((each) => [parentText('ListenerSet', keyOf(each.listenerSet)), each] as const),
    ]),
  )
  const attaching: Attaching = {
    allowed: new AllowedNamespaces((name) => sources.namespaceLabels(name)),
    hostnames: new TakenHostnames(),
    matches: new MatchBudget(),
  }
  const verdicts: RouteVerdict[] = []
  for (const route of routes.toSorted((a, b) => olderFirst(a.object, b.object))) {
    try {
      verdicts.push({ route, parents: parentsOf(route, byKey, attaching, sources) })
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
  byKey: ReadonlyMap<string, RouteParent>,
  attaching: Attaching,
  sources: AttachSources,
): readonly ParentVerdict[] {
  return (route.object.spec.parentRefs ?? []).flatMap((parentRef) => {
    const parent = byKey.get(parentKey(route, parentRef) ?? '')
    return parent === undefined ? [] : [attach(route, parentRef, parent, attaching, sources)]
  })
}

/** What has listeners. */
type RouteParent = Pick<GatewayVerdict, 'listeners'>

const parentText = (kind: string, key: ObjectKey): string => `${kind} ${key}`

/** Undefined if the parent is of another group. */
function parentKey({ object }: AnyRoute, parentRef: ParentReference): string | undefined {
  const { group = gatewayGroup, kind = 'Gateway', namespace = namespaceOf(object), name } = parentRef
  return group === gatewayGroup ? parentText(kind, objectKey(namespace, name)) : undefined
}

function attach(
  route: AnyRoute,
  parentRef: ParentReference,
  parent: RouteParent,
  { allowed, ...taken }: Attaching,
  sources: AttachSources,
): ParentVerdict {
  const { sectionName, port } = parentRef
  const rejected = (outcome: Outcome): ParentVerdict => ({ parentRef, accepted: outcome, attachments: [] })
  const named = parent.listeners.filter(
    ({ listener }) =>
      (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port),
  )
  if (named.length === 0)
    return rejected(
      unmet('NoMatchingParent', `the ${parentRef.kind ?? 'Gateway'} has no listener ${listenerText(parentRef)}`),
    )
  const open = named.filter(
    (each) => each.supportedKinds.includes(route.kind) && allowed.has(each, namespaceOf(route.object)),
  )
  if (open.length === 0)
    return rejected(
      unmet('NotAllowedByListeners', `no listener allows a ${route.kind} of namespace ${namespaceOf(route.object)}`),
    )
  const common = open
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
  const home = namespaceOf(route.object)
  if (!taken.matches.take(home, matches))
    return rejected(
      unmet(
        'TooManyMatches',
        `routes of namespace ${home} have ${matchesPerNamespaceMax} matches at listeners already`,
      ),
    )
  return { parentRef, accepted: met('Accepted', 'the route is accepted'), attachments }
}

const listenerText = ({ sectionName, port }: ParentReference): string =>
  [sectionName === undefined ? '' : sectionName, port === undefined ? '' : `with port ${port}`].join(' ').trim()

/** How many matches the routes of a namespace have at listeners. */
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
