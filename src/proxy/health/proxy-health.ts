// ProxyHealth: whether the proxy keeps up with changes, and whether the node should receive traffic of load balancers.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { WireRequest, WireResponse } from '../../platform/http/listener.ts'
import type { ProxyMetrics } from '../metrics/proxy-metrics.ts'

/** A change that waits longer makes the proxy unhealthy; as upstream, twice its sync period. */
const healthMsMax = 60_000
/** Set by the cluster autoscaler before it removes a node. */
const removalTaint = 'ToBeDeletedByClusterAutoscaler'

export class ProxyHealth {
  readonly #clock: Clock
  readonly #metrics: Pick<ProxyMetrics, 'healthzRequests' | 'livezRequests'>
  #lastUpdateMs = 0
  #queuedMs: number | undefined
  #isNodeEligible = true

  constructor(clock: Clock, metrics: Pick<ProxyMetrics, 'healthzRequests' | 'livezRequests'>) {
    this.#clock = clock
    this.#metrics = metrics
  }

  /** A change is known but not applied. */
  queued(): void {
    this.#queuedMs ??= this.#clock.nowMs()
  }

  /** All known changes are applied. */
  updated(): void {
    this.#queuedMs = undefined
    this.#lastUpdateMs = this.#clock.nowMs()
  }

  observeNode({ metadata, spec }: Pick<Node, 'metadata' | 'spec'>): void {
    this.#isNodeEligible =
      metadata.deletionTimestamp === undefined && !(spec.taints ?? []).some(({ key }) => key === removalTaint)
  }

  get isHealthy(): boolean {
    return (
      this.#lastUpdateMs === 0 || this.#queuedMs === undefined || this.#clock.nowMs() - this.#queuedMs < healthMsMax
    )
  }

  handle({ target }: Pick<WireRequest, 'target'>): WireResponse {
    const path = target.split('?', 1)[0]
    if (path !== '/healthz' && path !== '/livez')
      return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '404 page not found\n' }
    const isAboutNode = path === '/healthz'
    const isHealthy = this.isHealthy && (!isAboutNode || this.#isNodeEligible)
    const status = isHealthy ? 200 : 503
    this.#metrics[isAboutNode ? 'healthzRequests' : 'livezRequests'].add({ code: String(status) })
    const nowMs = this.#clock.nowMs()
    const times = `"lastUpdated": "${timeText(isHealthy ? nowMs : this.#lastUpdateMs)}","currentTime": "${timeText(nowMs)}"`
    const body = isAboutNode ? `{${times}, "nodeEligible": ${this.#isNodeEligible}}` : `{${times}}`
    return { status, headers: healthHeaders, body }
  }
}

export const healthHeaders = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } as const

/** In the form of Go's default, which upstream prints. */
const timeText = (ms: number): string => `${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')} +0000 UTC`
