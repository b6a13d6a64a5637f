// WebhookClient: asks admission webhooks, and reports failures with upstream's messages.
import type { Clock } from '../../../../base/time/clock.ts'
import { newUid } from '../../../../base/random/ids.ts'
import type { Random } from '../../../../base/random/random.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { badRequest, StatusError } from '../../../../api/errors/status-error.ts'
import type { WebhookConnections } from '../../../outbound/webhook-connections.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { parseReviewResponse, reviewOf, reviewVersionOf, type ReviewResponse } from './admission-review.ts'
import type { WebhookMetrics, WebhookOutcome } from './webhook-metrics.ts'
import type { Webhook } from './webhook.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'
import { jsonText } from '../../../../schema/json/exact-json.ts'

export interface WebhookClientOptions {
  readonly connections: WebhookConnections
  readonly clock: Clock
  readonly random: Random
  readonly metrics: WebhookMetrics
}

export class WebhookClient {
  readonly #options: WebhookClientOptions

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
    const body = jsonText(reviewOf(attributes, kind, version, uid))
    const { connections } = this.#options
    const value = await connections.post(hook, body, reads, attributes.signal).catch((error: unknown) => {
      throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
    })
    try {
      return parseReviewResponse(value, webhook, version, uid, mutates)
    } catch (error) {
      throw new Error(`received invalid webhook response: ${(error as Error).message}`, { cause: error })
    }
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

export const internalError = (detail: string, cause?: Error): StatusError =>
  new StatusError(
    500,
    'InternalError',
    `Internal error occurred: ${detail}`,
    { causes: [{ message: detail }] },
    { cause },
  )
