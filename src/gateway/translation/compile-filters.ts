// Compiles the filters of routes. A filter that cannot be applied makes its rule invalid, or is a reference that cannot be
// resolved. Pure.
import type { Filter, HeaderChanges, PathChange, ValueMatch } from '../../ingress/routing/route.ts'
import { unmet, type Outcome } from '../attachment/outcome.ts'
import type { HeaderModifier, PathModifier, RouteFilter } from '../kinds/route-kinds.ts'

export interface CompiledFilters {
  readonly filters: readonly Filter[]
  /** Values that are not supported: the rule is left out. */
  readonly unsupported: readonly string[]
  /** References that cannot be resolved: requests fail with 500. */
  readonly problems: readonly Outcome[]
}

export function compileFilters(filters: readonly RouteFilter[] = []): CompiledFilters {
  const compiled: { filters: Filter[]; unsupported: string[]; problems: Outcome[] } = {
    ...{ filters: [], unsupported: [], problems: [] },
  }
  for (const filter of filters) {
    const result = compileFilter(filter)
    if (typeof result === 'string') compiled.unsupported.push(result)
    else if ('isMet' in result) compiled.problems.push(result)
    else compiled.filters.push(result)
  }
  return compiled
}

/** A text says what is not supported. */
function compileFilter(filter: RouteFilter): Filter | Outcome | string {
  const { requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite, extensionRef } = filter
  if (requestHeaderModifier !== undefined)
    return { kind: 'request-headers', changes: headerChanges(requestHeaderModifier) }
  if (responseHeaderModifier !== undefined)
    return { kind: 'response-headers', changes: headerChanges(responseHeaderModifier) }
  if (requestRedirect !== undefined) return redirectFilter(requestRedirect)
  if (urlRewrite !== undefined) {
    const { hostname } = urlRewrite
    return { kind: 'rewrite', ...(hostname === undefined ? {} : { hostname }), ...pathChange(urlRewrite.path) }
  }
  if (extensionRef !== undefined) return unmet('InvalidKind', `filters of kind ${extensionRef.kind} are not supported`)
  return `filters of type ${filter.type} are not supported`
}

function redirectFilter(redirect: NonNullable<RouteFilter['requestRedirect']>): Filter | string {
  const { scheme, hostname, port, path, statusCode = 302 } = redirect
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') return `redirects to ${scheme} are not supported`
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

const headerChanges = ({ set, add, remove = [] }: HeaderModifier): HeaderChanges => ({
  set: firstOfName(set, inLowerCase),
  add: firstOfName(add, inLowerCase),
  remove: remove.map(inLowerCase),
})
