// The head of a request as it is forwarded to an endpoint, and the head of the response as it is sent to the client.
// Pure.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { parseRemoteIp } from '../../base/net/remote-address.ts'
import type { PooledResponse } from '../../platform/http/http-pool.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { changeHeaders, type Headers } from '../routing/filters.ts'
import { connectionHeaders, type HeaderChanges } from '../routing/header-changes.ts'
import type { BackendProtocol } from '../routing/route.ts'

/** What a client may not assert: the proxy sets these itself. */
const asserted = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
])

export interface Arrival {
  readonly scheme: 'http' | 'https'
  readonly port: number
  /** The host that the client named, with the port if it named one. */
  readonly authority: string
}

export interface ForwardOptions {
  readonly protocol: BackendProtocol
  /** The host of the forwarded request, if it is not the client's. */
  readonly hostname: string | undefined
  readonly changes: readonly HeaderChanges[]
  readonly traceparent: string
  /** The protocol that the client requests instead of HTTP. */
  readonly upgrade: string | undefined
}

export function forwardedHeaders(request: WireRequest, arrival: Arrival, options: ForwardOptions): Headers {
  const { scheme, port, authority } = arrival
  const headers: Headers = { host: options.hostname ?? authority }
  const named = connectionOptions(request.headers['connection'])
  for (const name in request.headers) {
    const value = request.headers[name] // safe name: a key of the record
    if (value === undefined || named.has(name) || isReserved(name)) continue
    if (name !== 'host' && name.charCodeAt(0) !== colon) setOwn(headers, name, value)
  }
  const client = parseRemoteIp(request.remoteAddress) ?? request.remoteAddress
  headers['x-forwarded-for'] = client
  headers['x-forwarded-host'] = authority
  headers['x-forwarded-port'] = String(port)
  headers['x-forwarded-proto'] = scheme
  headers['x-real-ip'] = client
  headers['forwarded'] =
    `for=${client.includes(':') ? `"[${client}]"` : client};host=${quoted(authority)};proto=${scheme}`
  headers['traceparent'] = options.traceparent
  // gRPC servers require it.
  if (options.protocol === 'h2c' && acceptsTrailers(request.headers['te'])) headers['te'] = 'trailers'
  for (const changes of options.changes) changeHeaders(headers, changes)
  if (options.upgrade !== undefined) {
    headers['connection'] = 'upgrade'
    headers['upgrade'] = options.upgrade
  }
  return headers
}

/** The headers of a response without those of the connection to the endpoint. */
export function returnedHeaders(response: Pick<PooledResponse, 'headers'>, changes: readonly HeaderChanges[]): Headers {
  const headers: Headers = {}
  const connection = lookup(response.headers, 'connection')
  const named = connectionOptions(typeof connection === 'string' ? connection : connection?.join(','))
  for (const name in response.headers) {
    const value = response.headers[name] // safe name: a key of the record
    if (value === undefined || connectionHeaders.has(name) || named.has(name) || name.charCodeAt(0) === colon) continue
    if (name !== 'content-length') setOwn(headers, name, value)
  }
  for (const change of changes) changeHeaders(headers, change)
  return headers
}

/** The length that the endpoint sent, also in response to HEAD. */
export function lengthOf({ headers }: Pick<PooledResponse, 'headers'>): number | undefined {
  const length = lookup(headers, 'content-length')
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** CGI and its successors show `X_Forwarded_For` and `X-Forwarded-For` to applications as the same variable. */
const otherSpelling = /[^\da-z-]/

function isReserved(name: string): boolean {
  if (connectionHeaders.has(name) || asserted.has(name)) return true
  if (!otherSpelling.test(name)) return false
  const dashed = name.replaceAll(/[^\da-z]/g, '-')
  return connectionHeaders.has(dashed) || asserted.has(dashed) || dashed === 'content-length' || dashed === 'host'
}

const colon = 0x3a
const noNames: ReadonlySet<string> = new Set()

/** The headers that a Connection header names belong to the connection too. */
function connectionOptions(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined) return noNames
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((option) => option.trim()),
  )
}

const acceptsTrailers = (te: string | undefined): boolean => te !== undefined && /\btrailers\b/i.test(te)

const quoted = (host: string): string => (/^[-\w.]+$/.test(host) ? host : `"${host.replaceAll(/["\\]/g, '')}"`)
