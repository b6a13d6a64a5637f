// Compiles a route to the routes of the data plane, without their hosts, which depend on the listener. Pure.
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Route, RouteMatch, WeightedBackend } from '../../ingress/routing/route.ts'
import { durationNanos } from '../../schema/scalar/duration.ts'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'
import { ageOrder } from '../../ingress/routing/older-first.ts'
import type {
  AnyRoute,
  BackendObjectReference,
  BackendReference,
  GrpcRouteRule,
  HttpRouteRule,
  TlsRouteRule,
} from '../kinds/route-kinds.ts'
import { compileFilters } from './compile-filters.ts'
import { compileGrpcMatch, compileHttpMatch } from './compile-matches.ts'
import { resolveBackend, type BackendSources } from './resolve-backend.ts'

export type RouteTemplate = Omit<Route, 'host'>

export interface CompiledRoute {
  readonly templates: readonly RouteTemplate[]
  readonly resolvedRefs: Outcome
  /** Met if at least one rule is served, or if there are none. */
  readonly rules: Outcome
  /** The Services that its rules name. */
  readonly services: readonly ObjectKey[]
  /** If some rules, but not all, are left out: which ones and why. */
  readonly dropped: string | undefined
}

interface CompiledRule {
  readonly templates: readonly RouteTemplate[]
  readonly problems: readonly Outcome[]
  readonly unsupported: readonly string[]
}

export function compileRoute(route: AnyRoute, sources: BackendSources): CompiledRoute {
  const rules = rulesOf(route).map((rule, index) => compileRule(route, rule, index, sources))
  const resolvedRefs =
    rules.flatMap(({ problems }) => problems)[0] ?? met('ResolvedRefs', 'all references are resolved')
  const dropped = rules.flatMap(({ unsupported }, index) =>
    unsupported.length === 0 ? [] : [`Dropped Rule ${index}: ${unsupported.join(', ')}`],
  )
  const isNoneLeft = rules.length > 0 && dropped.length === rules.length
  return {
    templates: rules.flatMap(({ templates }) => templates),
    services: servicesOf(route),
    resolvedRefs,
    rules: isNoneLeft
      ? unmet('UnsupportedValue', rules.flatMap(({ unsupported }) => unsupported)[0] ?? '')
      : met('Accepted', 'the rules are valid'),
    dropped: dropped.length === 0 || isNoneLeft ? undefined : dropped.join('; '),
  }
}

const servicesOf = (route: AnyRoute): readonly ObjectKey[] => {
  const home = namespaceOf(route.object)
  const references = rulesOf(route).flatMap(({ backendRefs = [] }) => backendRefs)
  const services = references.filter(({ group = '', kind = 'Service' }) => group === '' && kind === 'Service')
  return [...new Set(services.map(({ namespace = home, name }) => objectKey(namespace, name)))]
}

interface AnyRule extends Pick<HttpRouteRule, 'filters' | 'backendRefs' | 'timeouts'> {
  readonly matches: readonly (RouteMatch | string)[]
}

function rulesOf({ kind, object }: AnyRoute): readonly AnyRule[] {
  switch (kind) {
    case 'HTTPRoute':
      return (object.spec.rules ?? []).map(httpRule)
    case 'GRPCRoute':
      return (object.spec.rules ?? []).map(grpcRule)
    case 'TLSRoute':
      return (object.spec.rules ?? []).map(tlsRule)
    default:
      return kind satisfies never
  }
}

const httpRule = ({ matches = [], ...rule }: HttpRouteRule): AnyRule => ({
  ...rule,
  matches: (matches.length === 0 ? [{}] : matches).map(compileHttpMatch),
})

const grpcRule = ({ matches = [], ...rule }: GrpcRouteRule): AnyRule => ({
  ...rule,
  matches: (matches.length === 0 ? [{}] : matches).map(compileGrpcMatch),
})

/** The server name, which is the host of the route, decides alone. */
const tlsRule = (rule: TlsRouteRule): AnyRule => ({ ...rule, matches: [compileHttpMatch({})] })

function compileRule(route: AnyRoute, rule: AnyRule, index: number, sources: BackendSources): CompiledRule {
  const resolve = (reference: BackendObjectReference) => resolveBackend(route, reference, sources)
  const { filters, unsupported, problems, mirrorProblems } = compileFilters(rule.filters, resolve)
  const backends = (rule.backendRefs ?? []).map((ref) => compileBackend(route, ref, sources))
  const notSupported = [
    ...unsupported,
    ...backends.flatMap((each) => each.unsupported),
    ...rule.matches.filter((match) => typeof match === 'string'),
  ]
  const order = `${ageOrder(route.object)} ${padded(index)}`
  const template = {
    name: `${route.kind.toLowerCase()}/${keyOf(route.object)}`,
    filters,
    // A filter that cannot be resolved must not be skipped.
    backends: problems.length > 0 ? [] : backends.map(({ backend }) => backend),
    emptyStatus: 500 as const,
    requestMsMax: limitMs(rule.timeouts?.request),
    backendMsMax: limitMs(rule.timeouts?.backendRequest),
  }
  return {
    templates:
      notSupported.length > 0
        ? []
        : rule.matches.flatMap((match, at) =>
            typeof match === 'string' ? [] : [{ ...template, match, order: `${order} ${padded(at)}` }],
          ),
    problems: [...problems, ...mirrorProblems, ...backends.flatMap((each) => each.problems)],
    unsupported: [...new Set(notSupported)],
  }
}

function compileBackend(route: AnyRoute, reference: BackendReference, sources: BackendSources) {
  const resolve = (other: BackendObjectReference) => resolveBackend(route, other, sources)
  const { filters, unsupported, problems, mirrorProblems } = compileFilters(reference.filters, resolve)
  const resolved = resolve(reference)
  const isValid = resolved.kind === 'backend' && problems.length === 0
  const backend: WeightedBackend = {
    backend: isValid ? resolved.backend : undefined,
    weight: reference.weight ?? 1,
    filters,
  }
  const own = resolved.kind === 'backend' || resolved.problem === undefined ? [] : [resolved.problem]
  return { backend, unsupported, problems: [...own, ...problems, ...mirrorProblems] }
}

/** `0s` means no limit. */
function limitMs(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined
  const ms = durationNanos(duration) / 1e6
  return ms === 0 ? Infinity : ms
}

const padded = (index: number): string => String(index).padStart(4, '0')
