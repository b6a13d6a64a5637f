// EndpointSliceMetrics: the metrics of the controllers of EndpointSlices, under upstream's names.
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'

/** Prometheus' default bounds. */
const defaultBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** 2, doubled 14 times. */
const endpointsBounds = Array.from({ length: 15 }, (_, index) => 2 ** (index + 1))
/** 1 ms, doubled 14 times. */
const secondsBounds = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)

/** What a Service has and should have. */
export interface SliceCounts {
  readonly endpoints: number
  readonly slices: number
  /** The number of slices if all of them were full. */
  readonly slicesDesired: number
}

/** What one reconcile of a Service changed. */
export interface SliceSync extends SliceCounts {
  /** Endpoints. */
  readonly added: number
  readonly removed: number
  /** Slices. */
  readonly changes: Readonly<Record<SliceOperation, number>>
  readonly topology: 'Auto' | 'Disabled'
  readonly trafficDistribution: string
}

export type SliceOperation = 'create' | 'update' | 'delete'

export class EndpointSliceMetrics {
  readonly #added: Histogram
  readonly #removed: Histogram
  readonly #desired: Gauge
  readonly #slices: Gauge
  readonly #slicesDesired: Gauge
  readonly #changes: Counter
  readonly #changesPerSync: Histogram
  readonly #syncs: Counter
  readonly #mirrorSeconds: Histogram
  readonly #services = new Map<string, SliceCounts>()
  readonly #totals = { endpoints: 0, slices: 0, slicesDesired: 0 }

  constructor(metrics: Metrics) {
    const named = (name: string) => `endpoint_slice_controller_${name}`
    this.#added = metrics.histogram(
      named('endpoints_added_per_sync'),
      '[BETA] Number of endpoints added on each Service sync',
      endpointsBounds,
    )
    this.#removed = metrics.histogram(
      named('endpoints_removed_per_sync'),
      '[BETA] Number of endpoints removed on each Service sync',
      endpointsBounds,
    )
    this.#desired = metrics.gauge(named('endpoints_desired'), '[BETA] Number of endpoints desired')
    this.#slices = metrics.gauge(named('num_endpoint_slices'), '[BETA] Number of EndpointSlices')
    this.#slicesDesired = metrics.gauge(
      named('desired_endpoint_slices'),
      '[BETA] Number of EndpointSlices that would exist with perfect endpoint allocation',
    )
    this.#changes = metrics.counter(named('changes'), '[ALPHA] Number of EndpointSlice changes', ['operation'])
    this.#changesPerSync = metrics.histogram(
      named('endpointslices_changed_per_sync'),
      '[ALPHA] Number of EndpointSlices changed on each Service sync',
      defaultBounds,
      ['topology', 'traffic_distribution'],
    )
    this.#syncs = metrics.counter(named('syncs'), '[ALPHA] Number of EndpointSlice syncs', ['result'])
    this.#mirrorSeconds = metrics.histogram(
      'endpoint_slice_mirroring_controller_endpoints_sync_duration',
      '[ALPHA] Duration of syncEndpoints() in seconds',
      secondsBounds,
    )
  }

  failed(): void {
    this.#syncs.add({ result: 'error' })
  }

  /** `sync` is undefined for a Service that has no slices of the controller. */
  synced(service: string, sync: SliceSync | undefined): void {
    this.#syncs.add({ result: 'success' })
    if (sync === undefined) return
    const { added, removed, changes, topology, trafficDistribution: traffic_distribution } = sync
    this.#added.observe({}, added)
    this.#removed.observe({}, removed)
    for (const [operation, count] of Object.entries(changes)) if (count > 0) this.#changes.add({ operation }, count)
    this.#changesPerSync.observe({ topology, traffic_distribution }, changes.create + changes.update + changes.delete)
    this.#count(service, sync)
  }

  deleted(service: string): void {
    this.#count(service, undefined)
  }

  mirrored(seconds: number): void {
    this.#mirrorSeconds.observe({}, seconds)
  }

  #count(service: string, now: SliceCounts | undefined): void {
    const before = this.#services.get(service)
    if (now === undefined) this.#services.delete(service)
    else {
      const { endpoints, slices, slicesDesired } = now
      this.#services.set(service, { endpoints, slices, slicesDesired })
    }
    for (const name of ['endpoints', 'slices', 'slicesDesired'] as const)
      this.#totals[name] += (now?.[name] ?? 0) - (before?.[name] ?? 0)
    this.#desired.set({}, this.#totals.endpoints)
    this.#slices.set({}, this.#totals.slices)
    this.#slicesDesired.set({}, this.#totals.slicesDesired)
  }
}
