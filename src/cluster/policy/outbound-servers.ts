// OutboundServers: the connections of an API server to OIDC issuers and webhooks, with their credentials.
import type { Clock } from '../../base/time/clock.ts'
import type { JsonServer } from '../../apiserver/outbound/outbound-json.ts'
import type { Outbound, OutboundOptions, OutboundProvider } from '../../platform/http/outbound.ts'
import type { WebhookConnection } from '../flags/webhook-connection.ts'

export class OutboundServers {
  readonly #provider: OutboundProvider
  readonly #clock: Clock
  readonly #opened: Outbound[] = []

  constructor(provider: OutboundProvider, clock: Clock) {
    this.#provider = provider
    this.#clock = clock
  }

  connect(options: OutboundOptions | WebhookConnection, timeoutMs: number): JsonServer {
    const outbound = this.#provider.connect({ origin: options.origin, tls: options.tls })
    this.#opened.push(outbound)
    const token = 'token' in options ? options.token : ''
    const authorized = token === '' ? {} : { authorization: `Bearer ${token}` }
    const send: Outbound['send'] = (request, signal) =>
      outbound.send({ ...request, headers: { ...request.headers, ...authorized } }, signal)
    return { clock: this.#clock, timeoutMs, outbound: { send, close: () => outbound.close() } }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((outbound) => outbound.close()))
  }
}
