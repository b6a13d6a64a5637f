// CredentialMetrics: the client certificates and ServiceAccount tokens that authenticate requests, under upstream's names.
import type { Counter, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'

const minute = 60
const hour = 3_600
const day = 86_400
const expirationSecondsBounds = [
  ...[0, 30 * minute, hour, 2 * hour, 6 * hour, 12 * hour],
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day),
]

/** A counter without labels. It is shown from the start. */
const single = (counter: Counter): { add(amount: number): void } => counter.with({})

export class CredentialMetrics {
  readonly #certificates: HistogramSeries
  readonly #staleTokens
  readonly #validTokens
  readonly #legacyTokens
  readonly #usesOfLegacyTokens

  constructor(metrics: Metrics) {
    this.#certificates = metrics
      .histogram(
        'apiserver_client_certificate_expiration_seconds',
        '[ALPHA] Distribution of the remaining lifetime on the certificate used to authenticate a request.',
        expirationSecondsBounds,
      )
      .with({})
    const counter = (name: string, help: string) => single(metrics.counter(`serviceaccount_${name}`, `[ALPHA] ${help}`))
    this.#staleTokens = counter('stale_tokens_total', 'Cumulative stale projected service account tokens used')
    this.#validTokens = counter('valid_tokens_total', 'Cumulative valid projected service account tokens used')
    this.#legacyTokens = counter('legacy_tokens_total', 'Cumulative legacy service account tokens used')
    this.#usesOfLegacyTokens = {
      auto: counter('legacy_auto_token_uses_total', 'Cumulative auto-generated legacy tokens used'),
      manual: counter('legacy_manual_token_uses_total', 'Cumulative manually created legacy tokens used'),
      invalid: counter('invalid_legacy_auto_token_uses_total', 'Cumulative invalid auto-generated legacy tokens used'),
    }
  }

  certificateUsed(secondsLeft: number): void {
    this.#certificates.observe(secondsLeft)
  }

  /** A token whose holder is warned once it is older than the holder asked for. */
  projectedTokenUsed(isStale: boolean): void {
    ;(isStale ? this.#staleTokens : this.#validTokens).add(1)
  }

  /** A token in a Secret: `auto` if the ServiceAccount lists the Secret, `invalid` if the Secret is labelled so. */
  legacyTokenUsed(use: 'auto' | 'manual' | 'invalid'): void {
    this.#legacyTokens.add(1)
    this.#usesOfLegacyTokens[use].add(1)
  }
}
