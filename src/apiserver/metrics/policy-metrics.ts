// PolicyMetrics: the checks of admission policies, under upstream's names. As upstream, a validation that passes is not counted.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'

const secondsBounds = [5e-7, 0.001, 0.01, 0.1, 1]

/** What follows from a validation that did not pass. `allow`: an error, with failurePolicy Ignore. */
export type EnforcementAction = 'allow' | 'audit' | 'deny' | 'warn'
export type MutationErrorType = 'invalid_error' | 'no_error'

const outOfBudgetPrefix = 'validation failed due to running out of cost budget'

export class PolicyMetrics {
  readonly #validations: Counter
  readonly #validationSeconds: Histogram
  readonly #mutations: Counter
  readonly #mutationSeconds: Histogram

  constructor(metrics: Metrics) {
    const labels = ['error_type', 'policy', 'policy_binding']
    const validating = ['enforcement_action', ...labels]
    this.#validations = metrics.counter(
      'apiserver_validating_admission_policy_check_total',
      '[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
      validating,
    )
    this.#validationSeconds = metrics.histogram(
      'apiserver_validating_admission_policy_check_duration_seconds',
      '[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.',
      secondsBounds,
      validating,
    )
    this.#mutations = metrics.counter(
      'apiserver_mutating_admission_policy_check_total',
      '[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.',
      labels,
    )
    this.#mutationSeconds = metrics.histogram(
      'apiserver_mutating_admission_policy_check_duration_seconds',
      '[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.',
      secondsBounds,
      labels,
    )
  }

  /** A validation that did not pass, or an error. As upstream, the type of the error follows from the message. */
  validated(
    enforcement_action: EnforcementAction,
    message: string,
    policy: string,
    policy_binding: string,
    seconds: number,
  ): void {
    const error_type = message.startsWith(outOfBudgetPrefix) ? 'out_of_budget' : 'invalid_error'
    const labels = { enforcement_action, error_type, policy, policy_binding }
    this.#validations.add(labels)
    this.#validationSeconds.observe(labels, seconds)
  }

  /** A policy with one binding was applied to an object. */
  mutated(error_type: MutationErrorType, policy: string, policy_binding: string, seconds: number): void {
    const labels = { error_type, policy, policy_binding }
    this.#mutations.add(labels)
    this.#mutationSeconds.observe(labels, seconds)
  }
}
