// Compiles the matches of rules. A text says what is not supported, such as a regular expression that is not valid. Pure.
import type { PathMatch, RouteMatch, ValueMatch } from '../../ingress/routing/route.ts'
import { textPattern } from '../../ingress/routing/text-pattern.ts'
import type { GrpcRouteMatch, HttpRouteMatch, ValueMatchField } from '../kinds/route-kinds.ts'
import { firstOfName, inLowerCase } from './compile-filters.ts'

const regularExpression = 'RegularExpression'

export function compileHttpMatch(match: HttpRouteMatch): RouteMatch | string {
  const path = httpPath(match.path)
  const headers = valueMatches(match.headers, inLowerCase)
  const query = valueMatches(match.queryParams)
  if (typeof path === 'string') return path
  if (typeof headers === 'string') return headers
  if (typeof query === 'string') return query
  return { path, ...(match.method === undefined ? {} : { method: match.method }), headers, query }
}

function httpPath({ type = 'PathPrefix', value = '/' }: NonNullable<HttpRouteMatch['path']> = {}): PathMatch | string {
  switch (type) {
    case 'Exact':
      return { kind: 'exact', value }
    case 'PathPrefix':
      return { kind: 'prefix', value }
    case regularExpression:
      return patternPath(value)
    default:
      return `matches of type ${type} are not supported`
  }
}

/** A call of gRPC is a POST to `/service/method`. */
export function compileGrpcMatch({ method, headers: given }: GrpcRouteMatch): RouteMatch | string {
  const path = grpcPath(method)
  const headers = valueMatches(given, inLowerCase)
  if (typeof path === 'string') return path
  return typeof headers === 'string' ? headers : { path, headers, query: [] }
}

function grpcPath(match: NonNullable<GrpcRouteMatch['method']> = {}): PathMatch | string {
  const { type = 'Exact', service = '', method = '' } = match
  if (type === regularExpression) return patternPath(`/${groupOf(service)}/${groupOf(method)}`, [service, method])
  if (type !== 'Exact') return `matches of type ${type} are not supported`
  if (method === '') return { kind: 'prefix', value: `/${service}` }
  return service === '' ? { kind: 'method', value: method } : { kind: 'exact', value: `/${service}/${method}` }
}

/** An empty pattern stands for every name. */
const groupOf = (pattern: string): string => (pattern === '' ? '[^/]+' : `(?:${pattern})`)

/** `parts` must be valid by themselves. */
function patternPath(source: string, parts: readonly string[] = []): PathMatch | string {
  for (const part of parts) {
    const problem = textPattern(part)
    if (typeof problem === 'string') return problem
  }
  const pattern = textPattern(source)
  return typeof pattern === 'string' ? pattern : { kind: 'pattern', pattern }
}

function valueMatches(
  matches: readonly ValueMatchField[] = [],
  nameOf?: (name: string) => string,
): readonly ValueMatch[] | string {
  const compiled: ValueMatch[] = []
  for (const { name, type = 'Exact', value } of matches) {
    if (type === 'Exact') compiled.push({ name, value })
    else {
      const pattern = textPattern(value)
      if (typeof pattern === 'string') return pattern
      compiled.push({ name, value: pattern })
    }
  }
  return firstOfName(compiled, nameOf)
}
