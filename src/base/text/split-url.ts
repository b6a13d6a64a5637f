// Splits a URL into its components as Go's net/url does. Nothing is decoded or validated.

export interface SplitUrl {
  /** As written, without the colon. */
  readonly scheme: string
  /** Undefined without `//` before the path. */
  readonly host: string | undefined
  readonly user: string | undefined
  readonly path: string
  readonly query: string
  readonly fragment: string
}

export function splitUrl(text: string): SplitUrl {
  const [beforeFragment, fragment] = cut(text, '#')
  const [beforeQuery, query] = cut(beforeFragment, '?')
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(beforeQuery)?.[0] ?? ''
  const rest = scheme === '' ? beforeQuery : beforeQuery.slice(scheme.length + 1)
  const pathStart = rest.startsWith('//') ? rest.indexOf('/', 2) : 0
  const authority = rest.startsWith('//') ? rest.slice(2, pathStart < 0 ? rest.length : pathStart) : undefined
  const at = authority?.lastIndexOf('@') ?? -1
  return {
    scheme,
    user: at < 0 ? undefined : authority?.slice(0, at),
    host: authority?.slice(at + 1),
    path: pathStart < 0 ? '' : rest.slice(pathStart),
    query: query ?? '',
    fragment: fragment ?? '',
  }
}

function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
