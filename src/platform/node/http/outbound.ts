// Outbound requests on undici: over a pool of connections, on a connection of their own, or on one that is open.
import { lookup as resolveHost } from 'node:dns'
import type { LookupFunction, Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { assert } from '../../../base/assert.ts'
import { hostOfUrl } from '../../../base/net/host-port.ts'
import { isIp } from '../../../base/net/ip-bytes.ts'
import type { PooledResponse } from '../../http/http-pool.ts'
import {
  AddressNotAllowed,
  type OutboundExchange,
  type OutboundProvider,
  type OutboundResponse,
  type OutboundTls,
  type SendOn,
} from '../../http/outbound.ts'
import { byteStreamOn } from '../socket/socket-byte-stream.ts'
import { duplexOn } from '../socket/byte-stream-duplex.ts'
import { brokenResponse, unreachable } from './outbound-errors.ts'
import { undici } from './undici.ts'
import { joinedHeaders, responseHeadBytesMax, UndiciExchange } from './undici-exchange.ts'
import { identityOptions } from './identity-options.ts'

const pooledConnectMsMax = 10_000
const connectMsMax = 30_000
const connectionsMax = 64

/** The caller's signal bounds the wait for a response, and a watch may have no events for a long time. */
const unlimited = { bodyTimeout: 0, headersTimeout: 0, maxHeaderSize: responseHeadBytesMax }

/** For a client that is used for one request: it asks the server to close the connection. */
const single: Client.Options = { ...unlimited, allowH2: false, pipelining: 0 }

export const nodeOutbound: OutboundProvider = {
  connect({ origin, tls, http2 = false }) {
    const open = () =>
      new (undici().Pool)(origin, {
        ...unlimited,
        connections: connectionsMax,
        pipelining: 1,
        allowH2: http2, // undici does not reset an aborted HTTP/2 stream
        connect: connectOptions(tls, pooledConnectMsMax),
      })
    let pool: ReturnType<typeof open> | undefined
    let closed: Promise<void> | undefined
    return {
      async send(request, signal) {
        if (closed !== undefined) throw new Error(`the connection to ${origin} is closed`)
        pool ??= open()
        const sent = new UndiciExchange({ ...request, serverName: tls.serverName }, signal).dispatchOn(pool)
        return outboundResponse(await sent.response)
      },
      // undici rejects the second call.
      close: () => (closed ??= pool?.destroy() ?? Promise.resolve()),
    }
  },
  exchange,
}

function exchange(...[options, request, signal]: Parameters<OutboundProvider['exchange']>): Promise<OutboundExchange> {
  return new Promise((resolve, reject) => {
    const { origin, tls, allowsAddress } = options
    const url = new URL(origin)
    assert(url.username === '' && url.pathname === '/' && url.search === '', 'an origin is a scheme, a host and a port')
    const host = hostOfUrl(url)
    if (allowsAddress !== undefined && isIp(host) && !allowsAddress(host))
      throw new AddressNotAllowed('address not allowed')
    const connect = undici().buildConnector({
      ...connectOptions(tls, connectMsMax),
      allowH2: false,
      ...(allowsAddress === undefined ? {} : { lookup: checkedLookup(allowsAddress) }),
    }) as (...args: Parameters<buildConnector.connector>) => Socket
    let socket: Socket | undefined
    const client = new (undici().Client)(origin, {
      ...single,
      connect: (target, callback) => (socket = connect(target, callback)),
    })
    const { connection: _, upgrade, ...headers } = request.headers
    const sent = new UndiciExchange(
      {
        ...request,
        headers,
        ...(upgrade === undefined ? {} : { upgrade: String(upgrade) }),
        serverName: tls.identity?.serverName ?? tls.serverName,
      },
      signal,
      {
        failureOf: (error, progress) =>
          progress === 'head' || error instanceof AddressNotAllowed || error instanceof TypeError
            ? error
            : unreachable(url.host, error),
        onUpgrade: (given, upgraded) => {
          signal.addEventListener('abort', () => upgraded.destroy(), { once: true })
          resolve({ kind: 'upgraded', headers: joinedHeaders(given), stream: byteStreamOn(upgraded) })
        },
      },
    ).dispatchOn(client)
    void client.close() // after the request
    sent.response.then(
      (response) => resolve({ kind: 'answer', ...outboundResponse(response) }),
      (error: Error) => {
        socket?.destroy()
        reject(error)
      },
    )
  })
}

export const nodeSendOn: SendOn = async (stream, request, signal) => {
  const client = new (undici().Client)('http://stream.invalid', {
    ...single,
    connect: (_target, callback) => queueMicrotask(() => callback(null, duplexOn(stream) as Socket)),
  })
  const sent = new UndiciExchange(request, signal, { failureOf: brokenResponse }).dispatchOn(client)
  void client.close() // after the request
  try {
    return outboundResponse(await sent.response)
  } catch (error) {
    stream.destroy()
    throw error
  }
}

const connectOptions = (tls: OutboundTls, timeout: number): buildConnector.BuildOptions => ({
  timeout,
  ...(tls.authority === undefined ? {} : { ca: tls.authority }),
  ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
  ...(tls.key === undefined ? {} : { key: tls.key }),
  ...(tls.identity === undefined ? {} : identityOptions(tls.identity)),
  ...(tls.insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
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

const outboundResponse = ({ status, headers, body }: PooledResponse): OutboundResponse =>
  body instanceof Uint8Array
    ? { status, headers: joinedHeaders(headers), body: pieceOf(body), whole: body }
    : { status, headers: joinedHeaders(headers), body }

async function* pieceOf(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (body.length > 0) yield body
}
