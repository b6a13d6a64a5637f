import { setOwn } from '../../../base/collections/lookup.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Pool } from 'undici'
import type { OutboundOptions, OutboundProvider } from '../../http/outbound.ts'
import { exchange, piecesOf } from './outbound-exchange.ts'

const connectMsMax = 10_000
const connectionsMax = 64

export const nodeOutbound: OutboundProvider = {
  connect(options) {
    let pool: Promise<Pool> | undefined
    return {
      async send({ method, target, headers, body }, signal) {
        const response = await (
          await (pool ??= open(options))
        ).request({ method, path: target, headers: { ...headers } as IncomingHttpHeaders, body: body ?? null, signal })
        const plain: Record<string, string> = {}
        for (const [name, value] of Object.entries(response.headers)) setOwn(plain, name, String(value))
        return { status: response.statusCode, headers: plain, body: piecesOf(response.body) }
      },
      async close() {
        await (await pool)?.destroy()
      },
    }
  },
  exchange,
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
