// AccessMetrics: the metrics of authentication and authorization, under upstream's names.
import type { Counter, Histogram, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'

/** 1 ms, doubled 14 times. */
const secondsBounds = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)

type Series = { readonly total: { add(amount: number): void }; readonly seconds: HistogramSeries }

/** The results of one kind of check, each with its count and its duration. */
class CheckMetrics<Result extends string> {
  readonly #total: Counter
  readonly #seconds: Histogram
  readonly #series = new Map<Result, Series>()

  constructor(total: Counter, seconds: Histogram) {
    this.#total = total
    this.#seconds = seconds
  }

  record(result: Result, seconds: number): void {
    let series = this.#series.get(result)
    if (series === undefined) {
      series = { total: this.#total.with({ result }), seconds: this.#seconds.with({ result }) }
      this.#series.set(result, series)
    }
    series.total.add(1)
    series.seconds.observe(seconds)
  }
}

const authenticationResults = { authenticated: 'success', rejected: 'error', unknown: 'failure' } as const
const authorizationResults = { allowed: 'allowed', denied: 'denied', noOpinion: 'no-opinion' } as const

export class AccessMetrics {
  readonly #authentication: CheckMetrics<'success' | 'error' | 'failure'>
  readonly #authorization: CheckMetrics<'allowed' | 'denied' | 'no-opinion' | 'error'>
  readonly #users: { add(amount: number): void }

  constructor(metrics: Metrics) {
    this.#authentication = new CheckMetrics(
      metrics.counter('authentication_attempts', '[ALPHA] Counter of authenticated attempts.', ['result']),
      metrics.histogram(
        'authentication_duration_seconds',
        '[ALPHA] Authentication duration in seconds broken out by result.',
        secondsBounds,
        ['result'],
      ),
    )
    this.#authorization = new CheckMetrics(
      metrics.counter(
        'authorization_attempts_total',
        "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
        ['result'],
      ),
      metrics.histogram(
        'authorization_duration_seconds',
        '[ALPHA] Authorization duration in seconds broken out by result.',
        secondsBounds,
        ['result'],
      ),
    )
    // As upstream, all users share one series, so that their number is not bounded by clients.
    this.#users = metrics
      .counter('authenticated_user_requests', '[ALPHA] Counter of authenticated requests broken out by username.', [
        'username',
      ])
      .with({ username: 'other' })
  }

  /** The result is passed on. */
  authentication<T extends { readonly kind: keyof typeof authenticationResults }>(found: T, seconds: number): T {
    this.#authentication.record(authenticationResults[found.kind], seconds)
    if (found.kind === 'authenticated') this.#users.add(1)
    return found
  }

  authenticationFailed(seconds: number): void {
    this.#authentication.record('error', seconds)
  }

  /** The decision is passed on. */
  authorization<T extends { readonly kind: keyof typeof authorizationResults }>(decision: T, seconds: number): T {
    this.#authorization.record(authorizationResults[decision.kind], seconds)
    return decision
  }

  authorizationFailed(seconds: number): void {
    this.#authorization.record('error', seconds)
  }
}
