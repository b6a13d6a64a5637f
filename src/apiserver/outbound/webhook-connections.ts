// WebhookConnections: sends reviews to webhooks over pooled connections with a timeout. Failures have upstream's messages.
import type { Clock } from '../../base/time/clock.ts'
import type { ServiceReference, WebhookClientConfig } from '../../api/admissionregistration/v1/webhook-client-config.ts'
import type { Outbound, OutboundOptions, OutboundProvider } from '../../platform/http/outbound.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'
import { failureText } from './failure-text.ts'
import { exchangeText } from './outbound-json.ts'
import { parseWebhookResponse } from './webhook-response.ts'

export interface WebhookConnectionOptions {
  readonly outbound: OutboundProvider
  readonly clock: Clock
  /** The address of an endpoint of the Service; throws if there is none. */
  readonly serviceAddress: (service: ServiceReference, reads: ObjectLister) => string
}

export interface WebhookEndpoint {
  readonly clientConfig: WebhookClientConfig
  readonly timeoutSeconds: number
  /** A longer response is an error; 1 MiB if undefined. */
  readonly responseBytesMax?: number
}

/** Open connections; beyond this the oldest is closed. */
const connectionsMax = 256

export class WebhookConnections {
  readonly #options: WebhookConnectionOptions
  readonly #connections = new Map<string, Outbound>()

  constructor(options: WebhookConnectionOptions) {
    this.#options = options
  }

  /** The parsed body of the response. */
  async post(endpoint: WebhookEndpoint, body: string, reads: ObjectLister, signal: AbortSignal): Promise<unknown> {
    const { url, host, target, tls, origin } = placeOf(endpoint)
    const headers = { 'content-type': 'application/json', accept: 'application/json, */*', host }
    const call = async () => {
      const { service } = endpoint.clientConfig
      const at = service === undefined ? origin : `https://${this.#options.serviceAddress(service, reads)}`
      const { timeoutSeconds, responseBytesMax } = endpoint
      const server = {
        outbound: this.#connect({ origin: at, tls, http2: true }),
        clock: this.#options.clock,
        timeoutMs: timeoutSeconds * 1000,
        ...(responseBytesMax === undefined ? {} : { responseBytesMax }),
      }
      return exchangeText(server, { method: 'POST', target, headers, body }, signal)
    }
    const answer = await call().catch((error: unknown) => {
      throw new Error(`Post "${url}": ${failureText(error)}`, { cause: error })
    })
    return parseWebhookResponse(answer)
  }

  #connect(options: OutboundOptions): Outbound {
    const key = JSON.stringify(options)
    const known = this.#connections.get(key)
    if (known !== undefined) return known
    const [oldest] = this.#connections
    if (this.#connections.size >= connectionsMax && oldest !== undefined) {
      this.#connections.delete(oldest[0])
      void oldest[1].close()
    }
    const outbound = this.#options.outbound.connect(options)
    this.#connections.set(key, outbound)
    return outbound
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((outbound) => outbound.close()))
  }
}

/** The target of the call as messages name it. The address of a Service is determined at each call. */
function placeOf({ clientConfig, timeoutSeconds }: WebhookEndpoint) {
  const { url: text, service, caBundle = '' } = clientConfig
  const tls = caBundle === '' ? {} : { authority: new TextDecoder().decode(Uint8Array.fromBase64(caBundle)) }
  const timeout = `?timeout=${timeoutSeconds}s`
  if (service === undefined) {
    const { href, host, origin, pathname } = new URL(timeout, text)
    return { url: href, host, target: `${pathname}${timeout}`, origin, tls }
  }
  const serverName = `${service.name}.${service.namespace}.svc`
  const host = `${serverName}:${service.port}`
  const target = `${service.path ?? '/'}${timeout}`
  return { url: `https://${host}${target}`, host, target, origin: `https://${host}`, tls: { ...tls, serverName } }
}
