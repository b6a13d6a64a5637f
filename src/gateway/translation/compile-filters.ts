// Compiles the filters of routes. A filter that cannot be applied makes its rule invalid, or is a reference that cannot be
// resolved. Pure.
import { allowedOrigin } from '../../ingress/routing/cors.ts'
import { headerChanges } from '../../ingress/routing/header-changes.ts'
import type { Filter, PathChange, ValueMatch } from '../../ingress/routing/route.ts'
import { unmet, type Outcome } from '../attachment/outcome.ts'
import type { BackendObjectReference, CorsFields, PathModifier, RouteFilter } from '../kinds/route-kinds.ts'
import type { ResolvedBackend } from './resolve-backend.ts'

export interface CompiledFilters {
  readonly filters: readonly Filter[]
  /** Values that are not supported: the rule is left out. */
  readonly unsupported: readonly string[]
  /** References that cannot be resolved: requests fail with 500. */
  readonly problems: readonly Outcome[]
  /** Mirrors that cannot be resolved: requests are not copied to them. */
  readonly mirrorProblems: readonly Outcome[]
}

export type ResolveBackend = (reference: BackendObjectReference) => ResolvedBackend

export function compileFilters(filters: readonly RouteFilter[] = [], resolve: ResolveBackend): CompiledFilters {
  const compiled: { filters: Filter[]; unsupported: string[]; problems: Outcome[]; mirrorProblems: Outcome[] } = {
    filters: [],
    unsupported: [],
    problems: [],
    mirrorProblems: [],
  }
  for (const filter of filters) {
    const { requestMirror } = filter
    if (requestMirror !== undefined) {
      const resolved = resolve(requestMirror.backendRef)
      if (resolved.kind === 'invalid') {
        if (resolved.problem !== undefined) compiled.mirrorProblems.push(resolved.problem)
      } else
        compiled.filters.push({ kind: 'mirror', mirror: { backend: resolved.backend, share: shareOf(requestMirror) } })
      continue
    }
    const result = compileFilter(filter)
    if (typeof result === 'string') compiled.unsupported.push(result)
    else if ('isMet' in result) compiled.problems.push(result)
    else compiled.filters.push(result)
  }
  return compiled
}

/** All requests, unless a percentage or a fraction is given. */
function shareOf({ percent, fraction }: NonNullable<RouteFilter['requestMirror']>): number {
  if (percent !== undefined) return percent / 100
  return fraction === undefined ? 1 : fraction.numerator / (fraction.denominator ?? 100)
}

/** A text says what is not supported. */
function compileFilter(filter: RouteFilter): Filter | Outcome | string {
  const { requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite, cors, extensionRef } = filter
  if (requestHeaderModifier !== undefined) {
    const changes = headerChanges(requestHeaderModifier)
    return typeof changes === 'string' ? changes : { kind: 'request-headers', changes }
  }
  if (responseHeaderModifier !== undefined) {
    const changes = headerChanges(responseHeaderModifier)
    return typeof changes === 'string' ? changes : { kind: 'response-headers', changes }
  }
  if (requestRedirect !== undefined) return redirectFilter(requestRedirect)
  if (urlRewrite !== undefined) {
    const { hostname, path } = urlRewrite
    if (path !== undefined && !isPath(path)) return invalidPath
    if (hostname !== undefined && !isHostname(hostname)) return invalidHostname
    return { kind: 'rewrite', ...(hostname === undefined ? {} : { hostname }), ...pathChange(urlRewrite.path) }
  }
  if (cors !== undefined) return corsFilter(cors)
  if (extensionRef !== undefined) return unmet('InvalidKind', `filters of kind ${extensionRef.kind} are not supported`)
  return `filters of type ${filter.type} are not supported`
}

function redirectFilter(redirect: NonNullable<RouteFilter['requestRedirect']>): Filter | string {
  const { scheme, hostname, port, path, statusCode = 302 } = redirect
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') return `redirects to ${scheme} are not supported`
  if (path !== undefined && !isPath(path)) return invalidPath
  if (hostname !== undefined && !isHostname(hostname)) return invalidHostname
  return {
    kind: 'redirect',
    redirect: {
      ...(scheme === undefined ? {} : { scheme }),
      ...(hostname === undefined ? {} : { hostname }),
      ...(port === undefined ? {} : { port }),
      ...pathChange(path),
      statusCode,
    },
  }
}

const maxAgeSecondsDefault = 5

function corsFilter(cors: CorsFields): Filter | string {
  const { allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [] } = cors
  const origins = allowOrigins.map(allowedOrigin)
  const invalid = origins.indexOf(undefined)
  if (invalid >= 0) return `the origin ${allowOrigins[invalid]} is not supported`
  return {
    kind: 'cors',
    policy: {
      origins: origins.filter((each) => each !== undefined),
      allowsCredentials: cors.allowCredentials === true,
      methods: allowMethods,
      headers: allowHeaders,
      exposedHeaders: exposeHeaders,
      maxAgeSeconds: cors.maxAge ?? maxAgeSecondsDefault,
    },
  }
}

const invalidPath = 'a path must begin with a slash and contain neither blanks nor control characters'

/** It becomes part of a request line or of the header Location. An empty prefix removes the matched one. */
const isPath = ({ replaceFullPath = '/', replacePrefixMatch = '' }: PathModifier): boolean =>
  /^\/[\x21-\x7e]*$/.test(replaceFullPath) && /^(?:\/[\x21-\x7e]*)?$/.test(replacePrefixMatch)

const invalidHostname = 'a hostname consists of letters, digits, dashes and dots'

/** It becomes the header Host, or a part of the header Location. */
const isHostname = (hostname: string): boolean => /^[-.\dA-Za-z]{1,253}$/.test(hostname)

function pathChange(path: PathModifier | undefined): { readonly path?: PathChange } {
  if (path === undefined) return {}
  return path.type === 'ReplaceFullPath'
    ? { path: { kind: 'full', value: path.replaceFullPath ?? '/' } }
    : { path: { kind: 'prefix', value: path.replacePrefixMatch ?? '' } }
}

/** Of several entries for a name the first is used. */
export function firstOfName(entries: readonly ValueMatch[] = [], nameOf = (name: string) => name): ValueMatch[] {
  const byName = new Map<string, ValueMatch>()
  for (const { name, value } of entries) {
    const key = nameOf(name)
    if (!byName.has(key)) byName.set(key, { name: key, value })
  }
  return [...byName.values()]
}

export const inLowerCase = (name: string): string => name.toLowerCase()
