import { lookup, setOwn } from '../../../base/collections/lookup.ts'
import { lookup as resolveHost } from 'node:dns'
import { request as requestPlain, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { request as requestSecure, type RequestOptions } from 'node:https'
import type { LookupFunction } from 'node:net'
import { assert } from '../../../base/assert.ts'
import { hostOfUrl } from '../../../base/net/host-port.ts'
import { isIp } from '../../../base/net/ip-bytes.ts'
import { realClock } from '../../../base/time/clock.ts'
import {
  AddressNotAllowed,
  Unreachable,
  type OutboundResponse,
  type OutboundExchange,
  type OutboundProvider,
} from '../../http/outbound.ts'
import { byteStreamOn } from '../socket/socket-byte-stream.ts'

const connectMsMax = 30_000

/** Go's messages, which users search for. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
}

const plainServer = /wrong version number|packet length too long/

/** A TLS handshake with a server that speaks plain HTTP. */
const tlsReason = ({ code, message }: NodeJS.ErrnoException): string | undefined =>
  code === 'EPROTO' && plainServer.test(message) ? 'tls: first record does not look like a TLS handshake' : undefined

export const unreachable = (authority: string, error: NodeJS.ErrnoException): Unreachable =>
  new Unreachable(tlsReason(error) ?? `dial tcp ${authority}: ${lookup(reasons, error.code ?? '') ?? error.message}`, {
    cause: error,
  })

/** Path and query of a request line. A URL parser would treat `\\` as `/`, so that a path could name another host. */
const targetPattern = /^\/[!-[\]-~\u0080-\u00ff]*$/

export const exchange: OutboundProvider['exchange'] = (
  { origin, tls, allowsAddress },
  { method, target, headers, body },
  signal,
) =>
  new Promise<OutboundExchange>((resolve, reject) => {
    // Host and port are always those of the origin, whatever the target contains.
    const url = new URL(origin)
    assert(url.username === '' && url.pathname === '/' && url.search === '', 'an origin is a scheme, a host and a port')
    if (!targetPattern.test(target)) throw new TypeError(`${JSON.stringify(target)} is not a path`)
    const host = hostOfUrl(url)
    if (allowsAddress !== undefined && isIp(host) && !allowsAddress(host))
      throw new AddressNotAllowed('address not allowed')
    const options: RequestOptions = {
      method,
      headers: { ...headers } as OutgoingHttpHeaders,
      agent: false,
      signal,
      host,
      port: url.port,
      path: target,
      ...(allowsAddress === undefined ? {} : { lookup: checkedLookup(allowsAddress) }),
      ...(tls.authority === undefined ? {} : { ca: tls.authority }),
      ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
      ...(tls.key === undefined ? {} : { key: tls.key }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      ...(tls.insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
    }
    const request = url.protocol === 'https:' ? requestSecure(options) : requestPlain(options)
    const late = realClock.after(connectMsMax, () =>
      request.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    )
    const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect'
    request.on('socket', (socket) => socket.once(connected, () => late.cancel()))
    request.on('error', (error: NodeJS.ErrnoException) => {
      late.cancel()
      if (signal.aborted) return reject(signal.reason as Error)
      if (error instanceof AddressNotAllowed) return reject(error)
      reject(unreachable(url.host, error))
    })
    request.on('response', (response) =>
      resolve({
        kind: 'answer',
        status: response.statusCode ?? 0,
        headers: plain(response.headers),
        body: piecesOf(response),
      }),
    )
    request.on('upgrade', (response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      if (signal.aborted) socket.destroy()
      signal.addEventListener('abort', () => socket.destroy(), { once: true })
      resolve({ kind: 'upgraded', headers: plain(response.headers), stream: byteStreamOn(socket) })
    })
    request.end(body)
  })

/** Resolves a name once and checks all of its addresses, so that a later DNS response cannot add others. */
const checkedLookup =
  (allowsAddress: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) =>
    resolveHost(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined)
        return callback(error ?? new Error(`lookup ${hostname}: no address`), '')
      if (!addresses.every(({ address }) => allowsAddress(address)))
        return callback(new AddressNotAllowed('address not allowed'), '')
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })

/** Hides the methods of a Node.js stream, such as `take`, by which other kinds of bodies are recognized. */
export const piecesOf = (stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
})

function plain(headers: IncomingHttpHeaders): OutboundResponse['headers'] {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) setOwn(found, name, String(value))
  return found
}
