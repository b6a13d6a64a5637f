// URLs, parsed as Go does: absolute, or an absolute path.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { splitUrl } from '../../../base/text/split-url.ts'
import { global, member, type Functions } from '../../environment/function.ts'
import { boolType, listOf, mapOf, opaque, stringType } from '../../types/cel-type.ts'
import { LiteralMap } from '../../values/map-value.ts'
import { EvalError } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'

export const urlType = opaque('kubernetes.URL')

interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
}

class Url extends Opaque {
  readonly type = urlType
  readonly text: string
  readonly parts: UrlParts

  constructor(text: string, parts: UrlParts) {
    super()
    this.text = text
    this.parts = parts
  }

  equals(other: Opaque): boolean {
    return other instanceof Url && other.text === this.text
  }
}

function parseUrl(text: string): Url | undefined {
  // A blank may be in a path, but not in a host.
  if (/(?![\u{80}-\u{9f}])\p{Cc}/u.test(text)) return undefined
  const parts = splitUrl(text)
  const { scheme, host = '', path, query } = parts
  const isRooted = scheme !== '' || path.startsWith('/')
  const isHost = /^(\[[0-9a-fA-F:.%]*\]|[^\s:[\]]*)(:\d*)?$/.test(host)
  if (text === '' || !isRooted || !isHost || /%(?![0-9a-fA-F]{2})/.test(path)) return undefined
  // What follows a scheme without a slash is opaque, not a path.
  if (scheme !== '' && !path.startsWith('/') && path !== '' && parts.host === undefined) return undefined
  return new Url(text, { scheme: scheme.toLowerCase(), host, path, query })
}

function url(text: string): Url {
  const parsed = parseUrl(text)
  if (parsed === undefined)
    throw new EvalError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    )
  return parsed
}

const hostname = (host: string): string => (/^\[(.*)\](?::\d*)?$/.exec(host) ?? /^([^:]*)/.exec(host))?.[1] ?? ''
const port = (host: string): string => /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''

function queryOf({ parts }: Url): LiteralMap {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(parts.query))
    getOrInsert(values, name, (): string[] => []).push(value)
  return new LiteralMap(values)
}

/** Bytes that are not valid UTF-8 remain escaped. */
function escapedPath(path: string): string {
  try {
    return encodeURI(decodeURIComponent(path))
  } catch {
    return path
  }
}

const part = (id: string, read: (parts: UrlParts) => string) =>
  [member(id, [urlType], stringType, ({ parts }: Url) => read(parts))] as const

export const urlFunctions: Functions = {
  url: [global('string_to_url', [stringType], urlType, url)],
  isURL: [global('is_url_string', [stringType], boolType, (text: string) => parseUrl(text) !== undefined)],
  getScheme: part('url_get_scheme', ({ scheme }) => scheme),
  getHost: part('url_get_host', ({ host }) => host),
  getHostname: part('url_get_hostname', ({ host }) => hostname(host)),
  getPort: part('url_get_port', ({ host }) => port(host)),
  getEscapedPath: part('url_get_escaped_path', ({ path }) => escapedPath(path)),
  getQuery: [member('url_get_query', [urlType], mapOf(stringType, listOf(stringType)), queryOf)],
}
