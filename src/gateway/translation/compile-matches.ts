// Compiles the matches of rules. A text says what is not supported: regular expressions, and methods of gRPC without a
// service. Pure.
import type { RouteMatch, ValueMatch } from '../../ingress/routing/route.ts'
import type { GrpcRouteMatch, HttpRouteMatch, ValueMatchField } from '../kinds/route-kinds.ts'
import { firstOfName, inLowerCase } from './compile-filters.ts'

const noRegularExpressions = 'matches of type RegularExpression are not supported'

export function compileHttpMatch(match: HttpRouteMatch): RouteMatch | string {
  const { type = 'PathPrefix', value = '/' } = match.path ?? {}
  if (type !== 'Exact' && type !== 'PathPrefix') return noRegularExpressions
  const headers = valueMatches(match.headers, inLowerCase)
  const query = valueMatches(match.queryParams)
  if (headers === undefined || query === undefined) return noRegularExpressions
  return {
    path: { kind: type === 'Exact' ? 'exact' : 'prefix', value },
    ...(match.method === undefined ? {} : { method: match.method }),
    headers,
    query,
  }
}

/** A call of gRPC is a POST to `/service/method`. */
export function compileGrpcMatch({ method, headers: given }: GrpcRouteMatch): RouteMatch | string {
  const { type = 'Exact', service = '', method: name = '' } = method ?? {}
  if (type !== 'Exact') return noRegularExpressions
  if (service === '' && name !== '') return 'matches of a method without a service are not supported'
  const headers = valueMatches(given, inLowerCase)
  if (headers === undefined) return noRegularExpressions
  const path =
    name === ''
      ? ({ kind: 'prefix', value: `/${service}` } as const)
      : ({ kind: 'exact', value: `/${service}/${name}` } as const)
  return { path, headers, query: [] }
}

/** Undefined if one is a regular expression. */
function valueMatches(
  matches: readonly ValueMatchField[] = [],
  nameOf?: (name: string) => string,
): readonly ValueMatch[] | undefined {
  return matches.some(({ type = 'Exact' }) => type !== 'Exact') ? undefined : firstOfName(matches, nameOf)
}
