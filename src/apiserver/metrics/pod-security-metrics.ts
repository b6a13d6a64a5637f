// PodSecurityMetrics: the evaluations and exemptions of pod security, under upstream's names.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Counter, Metrics } from '../../base/observability/metrics.ts'

export interface PodSecurityRequest {
  readonly operation: string
  /** Whether it concerns the template of a controller instead of a pod. */
  readonly resource: 'pod' | 'controller'
  readonly subresource: string
}

export interface PodSecurityEvaluation extends PodSecurityRequest {
  readonly decision: 'allow' | 'deny'
  readonly mode: 'enforce' | 'audit' | 'warn'
  readonly level: string
  /** `latest`, `v1.x`, or `future` for a version beyond the server's. */
  readonly version: string
}

interface Series {
  add(amount: number): void
}

export class PodSecurityMetrics {
  readonly #evaluations: Counter
  readonly #exemptions: Counter
  readonly #series = new Map<string, Series>()
  /** The usual evaluations: of pods in namespaces without a level, by operation. */
  readonly #usual: ReadonlyMap<string, Series>

  constructor(metrics: Metrics) {
    const request = ['request_operation', 'resource', 'subresource']
    this.#evaluations = metrics.counter(
      'pod_security_evaluations_total',
      '[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests.',
      ['decision', 'mode', 'policy_level', 'policy_version', ...request],
    )
    this.#exemptions = metrics.counter(
      'pod_security_exemptions_total',
      '[ALPHA] Number of exempt requests, not counting ignored or out of scope requests.',
      request,
    )
    const operations = ['create', 'update']
    this.#usual = new Map(
      operations.map((operation) => [
        operation,
        this.#evaluations.with({
          decision: 'allow',
          mode: 'enforce',
          policy_level: 'privileged',
          policy_version: 'latest',
          request_operation: operation,
          resource: 'pod',
          subresource: '',
        }),
      ]),
    )
    for (const request_operation of operations)
      for (const resource of ['controller', 'pod'])
        this.#exemptions.add({ request_operation, resource, subresource: '' }, 0)
  }

  evaluated(evaluation: PodSecurityEvaluation): void {
    const { decision, mode, level, version, operation, resource, subresource } = evaluation
    const isUsual = level === 'privileged' && decision === 'allow' && mode === 'enforce' && version === 'latest'
    const usual = isUsual && resource === 'pod' && subresource === '' ? this.#usual.get(operation) : undefined
    const series =
      usual ??
      getOrInsert(this.#series, `${decision}/${mode}/${level}/${version}/${operation}/${resource}/${subresource}`, () =>
        this.#evaluations.with({
          decision,
          mode,
          policy_level: level,
          policy_version: version,
          request_operation: operation,
          resource,
          subresource,
        }),
      )
    series.add(1)
  }

  exempted({ operation, resource, subresource }: PodSecurityRequest): void {
    this.#exemptions.add({ request_operation: operation, resource, subresource })
  }
}
