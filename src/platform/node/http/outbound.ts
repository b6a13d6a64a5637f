import { setOwn } from '../../../base/collections/lookup.ts'
import type { Pool } from 'undici'
import { NotSent, type PooledResponse } from '../../http/http-pool.ts'
import type { OutboundOptions, OutboundProvider, OutboundRequest, OutboundResponse } from '../../http/outbound.ts'
import { exchange } from './outbound-exchange.ts'
import { UndiciExchange } from './undici-exchange.ts'

const connectMsMax = 10_000
const connectionsMax = 64

export const nodeOutbound: OutboundProvider = {
  connect(options) {
    let pool: Promise<Pool> | undefined
    return {
      send: async (request, signal) => sendOn(await (pool ??= open(options)), request, signal),
      async close() {
        await (await pool)?.destroy()
      },
    }
  },
  exchange,
}

async function sendOn(pool: Pool, request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
  try {
    const sent = new UndiciExchange(pool, { body: undefined, ...request }, signal, () => {})
    const { status, headers, body } = await sent.response
    return body instanceof Uint8Array
      ? { status, headers: joined(headers), body: pieceOf(body), whole: body }
      : { status, headers: joined(headers), body }
  } catch (error) {
    throw error instanceof NotSent ? error.cause : error
  }
}

async function* pieceOf(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (body.length > 0) yield body
}

/** The values of a header that was sent several times, in one. */
function joined(headers: PooledResponse['headers']): OutboundResponse['headers'] {
  const found: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name] // safe name: a key of the record
    if (value !== undefined) setOwn(found, name, String(value))
  }
  return found
}

// undici takes 80 ms to load, so it is imported on first use.
async function open({ origin, tls, http2 = false }: OutboundOptions): Promise<Pool> {
  const { Pool } = await import('undici')
  return new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: http2, // undici does not reset an aborted HTTP/2 stream
    bodyTimeout: 0, // a watch may have no events for a long time
    headersTimeout: 0, // the caller's signal bounds the wait
    connect: {
      timeout: connectMsMax,
      ...(tls.authority === undefined ? {} : { ca: tls.authority }),
      ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
      ...(tls.key === undefined ? {} : { key: tls.key }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      ...(tls.insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
    },
  })
}
