import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { RouteMatch } from '../../ingress/routing/route.ts'
import type { GrpcRouteMatch, HttpRouteMatch } from '../kinds/route-kinds.ts'
import { compileGrpcMatch, compileHttpMatch } from './compile-matches.ts'

/** The path and the headers as text; a pattern is between tildes. */
function text(match: RouteMatch | string): string {
  if (typeof match === 'string') return match.replace(/:.*/s, '')
  const { path, headers, query } = match
  const values = [...headers, ...query].map(
    ({ name, value }) => `${name}=${typeof value === 'string' ? value : `~${value.source}~`}`,
  )
  return [`${path.kind} ${path.kind === 'pattern' ? path.pattern.source : path.value}`, ...values].join(' ')
}

const regular = (value: string) => ({ type: 'RegularExpression', value })

const httpCases: readonly (readonly [string, HttpRouteMatch, string])[] = [
  ['nothing is the prefix of all paths', {}, 'prefix /'],
  ['an exact path', { path: { type: 'Exact', value: '/a' } }, 'exact /a'],
  ['a regular path', { path: regular('/a.*') }, 'pattern /a.*'],
  ['a regular path that is not valid', { path: regular('/a(') }, 'a regular expression is not valid'],
  ['an unknown type', { path: { type: 'Glob', value: '/a' } }, 'matches of type Glob are not supported'],
  ['a regular header', { headers: [{ name: 'Team', ...regular('a|b') }] }, 'prefix / team=~a|b~'],
  ['a header that is not valid', { headers: [{ name: 'a', ...regular('[') }] }, 'a regular expression is not valid'],
  [
    'the first of two headers',
    {
      headers: [
        { name: 'a', value: '1' },
        { name: 'A', ...regular('2') },
      ],
    },
    'prefix / a=1',
  ],
  ['a regular parameter', { queryParams: [{ name: 'Q', ...regular('a+') }] }, 'prefix / Q=~a+~'],
  [
    'a parameter that is not valid',
    { queryParams: [{ name: 'q', ...regular('*') }] },
    'a regular expression is not valid',
  ],
]

const grpcCases: readonly (readonly [string, GrpcRouteMatch, string])[] = [
  ['nothing is the prefix of all calls', {}, 'prefix /'],
  ['a service', { method: { service: 'a.B' } }, 'prefix /a.B'],
  ['a service and a method', { method: { service: 'a.B', method: 'C' } }, 'exact /a.B/C'],
  ['a method of any service', { method: { method: 'C' } }, 'method C'],
  ['a regular service', { method: { type: 'RegularExpression', service: 'a|b' } }, 'pattern /(?:a|b)/[^/]+'],
  ['a regular method', { method: { type: 'RegularExpression', method: 'C.*' } }, 'pattern /[^/]+/(?:C.*)'],
  ['parts that are valid together only', { method: { type: 'RegularExpression', service: '(a', method: 'b)' } }, 'a regular expression is not valid'],
  ['a regular header', { headers: [{ name: 'Team', ...regular('a|b') }] }, 'prefix / team=~a|b~'],
  ['an unknown type', { method: { type: 'Glob', service: 'a' } }, 'matches of type Glob are not supported'],
] // prettier-ignore

suite('an HTTP match', () => {
  for (const [name, match, expected] of httpCases) test(name, () => deepEqual(text(compileHttpMatch(match)), expected))
})

suite('a gRPC match', () => {
  for (const [name, match, expected] of grpcCases) test(name, () => deepEqual(text(compileGrpcMatch(match)), expected))
})
