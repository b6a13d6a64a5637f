// WebhookClient: calls webhooks over pooled connections with a timeout, and reports failures with upstream's messages.
import type { Clock } from '../../../../base/time/clock.ts'
import { newUid } from '../../../../base/random/ids.ts'
import type { Random } from '../../../../base/random/random.ts'
import type { ServiceReference } from '../../../../api/admissionregistration/v1/webhook-client-config.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { badRequest, StatusError } from '../../../../api/errors/status-error.ts'
import type { Outbound, OutboundOptions, OutboundProvider } from '../../../../platform/http/outbound.ts'
import { exchangeText } from '../../../outbound/outbound-json.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { parseWebhookResponse } from './webhook-response.ts'
import { parseReviewResponse, reviewOf, reviewVersionOf, type ReviewResponse } from './admission-review.ts'
import type { WebhookMetrics, WebhookOutcome } from './webhook-metrics.ts'
import type { Webhook } from './webhook.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

export interface WebhookClientOptions {
  readonly outbound: OutboundProvider
  readonly clock: Clock
  readonly random: Random
  readonly metrics: WebhookMetrics
  /** The address of an endpoint of the Service; throws if there is none. */
  readonly serviceAddress: (service: ServiceReference, reads: ObjectLister) => string
}

/** Open connections; beyond this the oldest is closed. */
const connectionsMax = 256

export class WebhookClient {
  readonly #options: WebhookClientOptions
  readonly #connections = new Map<string, Outbound>()

  constructor(options: WebhookClientOptions) {
    this.#options = options
  }

  /** The response; undefined if the webhook failed and its failure policy is Ignore. Throws if the policy is Fail. */
  async call(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    kind: Kind,
    host: AdmissionHost,
    mutates: boolean,
  ): Promise<ReviewResponse | undefined> {
    const { hook } = webhook
    if (attributes.dryRun && hook.sideEffects !== 'None' && hook.sideEffects !== 'NoneOnDryRun')
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`)
    const called = recordedCall(hook.name, attributes, host, mutates)
    const { clock, metrics } = this.#options
    const startMs = clock.monotonicMs()
    const counted = (outcome: WebhookOutcome) =>
      metrics.observe(hook.name, mutates, attributes.operation, (clock.monotonicMs() - startMs) / 1000, outcome)
    try {
      const answer = await this.#callOnce(webhook, attributes, kind, host, mutates)
      const { denial } = answer
      counted(denial === undefined ? { kind: 'allowed' } : { kind: 'denied', code: denial.code })
      called(denial !== undefined ? 'denied' : answer.patch === undefined ? 'allowed' : 'patched')
      return answer
    } catch (error) {
      const isIgnored = hook.failurePolicy === 'Ignore'
      counted({ kind: 'failed', isIgnored })
      called(isIgnored ? 'failed, left out' : 'failed')
      attributes.signal.throwIfAborted()
      if (isIgnored) return undefined
      throw internalError(
        `failed calling webhook ${JSON.stringify(hook.name)}: ${(error as Error).message}`,
        error as Error,
      )
    }
  }

  async #callOnce(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    kind: Kind,
    reads: ObjectLister,
    mutates: boolean,
  ): Promise<ReviewResponse> {
    const { hook } = webhook
    const version = reviewVersionOf(hook)
    const uid = newUid(this.#options.random)
    const body = JSON.stringify(reviewOf(attributes, kind, version, uid))
    const value = await this.#post(hook, body, reads, attributes.signal).catch((error: unknown) => {
      throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
    })
    try {
      return parseReviewResponse(value, webhook, version, uid, mutates)
    } catch (error) {
      throw new Error(`received invalid webhook response: ${(error as Error).message}`, { cause: error })
    }
  }

  async #post(hook: Webhook['hook'], body: string, reads: ObjectLister, signal: AbortSignal): Promise<unknown> {
    const { url, host, target, tls, origin } = placeOf(hook)
    const headers = { 'content-type': 'application/json', accept: 'application/json, */*', host }
    const call = async () => {
      const { service } = hook.clientConfig
      const at = service === undefined ? origin : `https://${this.#options.serviceAddress(service, reads)}`
      const outbound = this.#connect({ origin: at, tls, http2: true })
      const server = { outbound, clock: this.#options.clock, timeoutMs: hook.timeoutSeconds * 1000 }
      return exchangeText(server, { method: 'POST', target, headers, body }, signal)
    }
    const answer = await call().catch((error: unknown) => {
      throw new Error(`Post "${url}": ${failureText(error as NetworkError)}`, { cause: error })
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

/** Records the call in the flow; returns a function that records its outcome. */
function recordedCall(
  name: string,
  attributes: AdmissionAttributes,
  { flow }: AdmissionHost,
  mutates: boolean,
): (outcome: string) => void {
  const { operation, kind, subresource, namespace, name: object, reinvocation, cause } = attributes
  const part = subresource === '' ? '' : `/${subresource}`
  const again = mutates && reinvocation.round > 0 ? ' once more' : ''
  const what = `review ${operation} ${kind.plural}${part}${again}`
  const subject = { resource: kind.plural, namespace, name: object }
  const call = flow.record('call', 'API Server', `Webhook/${name}`, what, subject, 0, cause)
  return (outcome) => flow.finish(call, outcome)
}

/** The target of the call as messages name it. The address of a Service is determined at each call. */
function placeOf({ clientConfig, timeoutSeconds }: Webhook['hook']) {
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

export const internalError = (detail: string, cause?: Error): StatusError =>
  new StatusError(
    500,
    'InternalError',
    `Internal error occurred: ${detail}`,
    { causes: [{ message: detail }] },
    { cause },
  )

type NetworkError = Error & { readonly code?: string; readonly address?: string; readonly port?: number }

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Upstream's message. */
function failureText({ code = '', message, address, port }: NetworkError): string {
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: x509: ${message}`
  if (untrusted.has(code) || code === 'CERT_SIGNATURE_FAILURE')
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (message.startsWith('no response within')) return 'context deadline exceeded'
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' ? 'EOF' : message
}
