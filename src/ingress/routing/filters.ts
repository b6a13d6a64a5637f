// Filters of routes: changes of headers, redirects and rewrites. Pure.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import type { CorsPolicy } from './cors.ts'
import type { HeaderChanges } from './header-changes.ts'
import type { Filter, Mirror, PathChange, PathMatch, Redirect } from './route.ts'

/** Values by name in lower case. */
export type Headers = Record<string, string | readonly string[]>

/** Applies the changes in place: set, add, then remove. */
export function changeHeaders(headers: Headers, { set, add, remove }: HeaderChanges): void {
  for (const { name, value } of set) setOwn(headers, name, value)
  for (const { name, value } of add) {
    const before = lookup(headers, name)
    setOwn(headers, name, before === undefined ? value : [...[before].flat(), value])
  }
  for (const name of remove) Reflect.deleteProperty(headers, name)
}

/** The path after the change. `/foo/bar` with the prefix `/foo` replaced by `/x` is `/x/bar`. */
export function changedPath(path: string, change: PathChange | undefined, match: PathMatch): string {
  if (change === undefined) return path
  if (change.kind === 'full') return change.value
  // Only prefixes can be replaced; the definition of the API rejects other matches.
  if (match.kind === 'pattern' || match.kind === 'method') return change.value || '/'
  const matched = match.value.endsWith('/') ? match.value.slice(0, -1) : match.value
  const rest = path.slice(matched.length)
  const prefix = change.value.endsWith('/') ? change.value.slice(0, -1) : change.value
  return rest === '' ? change.value || '/' : `${prefix}${rest.startsWith('/') ? '' : '/'}${rest}`
}

export interface RedirectedRequest {
  readonly scheme: 'http' | 'https'
  /** Without the port. */
  readonly host: string
  readonly path: string
  readonly query: string
  /** The port of the listener. */
  readonly port: number
}

const defaultPort = { http: 80, https: 443 } as const

/** The value of the header Location. A changed scheme has its own default port; the default port is left out. */
export function redirectLocation(redirect: Redirect, request: RedirectedRequest, match: PathMatch): string {
  const scheme = redirect.scheme ?? request.scheme
  const host = redirect.hostname ?? request.host
  const port = redirect.port ?? (redirect.scheme === undefined ? request.port : defaultPort[scheme])
  const path = changedPath(request.path, redirect.path, match)
  const query = request.query === '' ? '' : `?${request.query}`
  return `${scheme}://${host}${port === defaultPort[scheme] ? '' : `:${port}`}${path}${query}`
}

export interface Rewrite {
  readonly hostname?: string
  readonly path?: PathChange
}

export interface FiltersByKind {
  readonly requestHeaders: readonly HeaderChanges[]
  readonly responseHeaders: readonly HeaderChanges[]
  readonly redirect: Redirect | undefined
  readonly rewrite: Rewrite | undefined
  readonly mirrors: readonly Mirror[]
  readonly cors: CorsPolicy | undefined
}

const noFilters: FiltersByKind = {
  requestHeaders: [],
  responseHeaders: [],
  redirect: undefined,
  rewrite: undefined,
  mirrors: [],
  cors: undefined,
}

/** Of redirects, rewrites and policies for origins the first; the APIs allow one. */
export function filtersOf(filters: readonly Filter[]): FiltersByKind {
  // Most routes have none.
  if (filters.length === 0) return noFilters
  const found = {
    requestHeaders: [] as HeaderChanges[],
    responseHeaders: [] as HeaderChanges[],
    redirect: undefined as Redirect | undefined,
    rewrite: undefined as Rewrite | undefined,
    mirrors: [] as Mirror[],
    cors: undefined as CorsPolicy | undefined,
  }
  for (const filter of filters)
    switch (filter.kind) {
      case 'request-headers':
        found.requestHeaders.push(filter.changes)
        break
      case 'response-headers':
        found.responseHeaders.push(filter.changes)
        break
      case 'redirect':
        found.redirect ??= filter.redirect
        break
      case 'rewrite':
        found.rewrite ??= filter
        break
      case 'mirror':
        found.mirrors.push(filter.mirror)
        break
      case 'cors':
        found.cors ??= filter.policy
        break
      default:
        return filter satisfies never
    }
  return found
}
