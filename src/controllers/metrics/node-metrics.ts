// NodeMetrics: the metrics of the node lifecycle controller, under upstream's names.
import type { Counter, Gauge, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'

/** 1 ms, multiplied by four. */
const secondsBounds = Array.from({ length: 8 }, (_, index) => 4 ** index / 1000)

/** The nodes of a zone, and how many of them are not ready. */
export interface ZoneSize {
  readonly nodes: number
  readonly unready: number
}

export class NodeMetrics {
  /** Nodes whose pods are evicted. */
  readonly evictions: Counter
  /** How long it took to examine a node, and to change its conditions. */
  readonly updateSeconds: HistogramSeries
  readonly #zoneSize: Gauge
  readonly #zoneHealth: Gauge
  readonly #unhealthy: Gauge

  constructor(metrics: Metrics) {
    const named = (name: string) => `node_collector_${name}`
    this.evictions = metrics.counter(
      named('evictions_total'),
      '[STABLE] Number of Node evictions that happened since current instance of NodeController started.',
      ['zone'],
    )
    this.updateSeconds = metrics
      .histogram(
        named('update_node_health_duration_seconds'),
        '[ALPHA] Duration in seconds for NodeController to update the health of a single node.',
        secondsBounds,
      )
      .with({})
    const gauge = (name: string, help: string) => metrics.gauge(named(name), help, ['zone'])
    this.#zoneSize = gauge('zone_size', '[ALPHA] Gauge measuring number of registered Nodes per zones.')
    this.#zoneHealth = gauge('zone_health', '[ALPHA] Gauge measuring percentage of healthy nodes per zone.')
    this.#unhealthy = gauge('unhealthy_nodes_in_zone', '[ALPHA] Gauge measuring number of not Ready Nodes per zones.')
  }

  /** Undefined: the zone has no nodes any more. */
  setZone(zone: string, size: ZoneSize | undefined): void {
    if (size === undefined) {
      for (const gauge of [this.#zoneSize, this.#zoneHealth, this.#unhealthy]) gauge.remove({ zone })
      return
    }
    const { nodes, unready } = size
    this.#zoneSize.set({ zone }, nodes)
    this.#zoneHealth.set({ zone }, (100 * (nodes - unready)) / nodes)
    this.#unhealthy.set({ zone }, unready)
    this.evictions.add({ zone }, 0)
  }
}
