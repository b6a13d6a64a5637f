// AllocatorMetrics: the cluster IPs and node ports of Services, under upstream's names. The numbers of allocated and free ones
// are computed when metrics are scraped.
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'

const secondsBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** static: the Service requests the value; dynamic: the server chooses it. */
export type AllocationScope = 'static' | 'dynamic'

/** How much of a range of cluster IPs, or of the node ports, is allocated. */
export interface RangeUsage {
  readonly allocated: number
  readonly available: number
}

export interface AllocatorUsage {
  readonly addresses: ReadonlyMap<string, RangeUsage>
  readonly ports: RangeUsage
}

export class AllocatorMetrics {
  readonly #allocatedIps: Gauge
  readonly #availableIps: Gauge
  readonly #ips: Counter
  readonly #ipErrors: Counter
  readonly #ipSeconds: Histogram
  readonly #allocatedPorts: Gauge
  readonly #availablePorts: Gauge
  readonly #ports: Counter
  readonly #portErrors: Counter
  readonly #repairErrors: Counter
  #shown = new Set<string>()

  constructor(metrics: Metrics) {
    const ip = 'kube_apiserver_clusterip_allocator_'
    const port = 'kube_apiserver_nodeport_allocator_'
    this.#allocatedIps = metrics.gauge(
      `${ip}allocated_ips`,
      '[ALPHA] Gauge measuring the number of allocated IPs for Services',
      ['cidr'],
    )
    this.#availableIps = metrics.gauge(
      `${ip}available_ips`,
      '[ALPHA] Gauge measuring the number of available IPs for Services',
      ['cidr'],
    )
    this.#ips = metrics.counter(`${ip}allocation_total`, '[ALPHA] Number of Cluster IPs allocations', ['cidr', 'scope'])
    this.#ipErrors = metrics.counter(
      `${ip}allocation_errors_total`,
      '[ALPHA] Number of errors trying to allocate Cluster IPs',
      ['cidr', 'scope'],
    )
    this.#ipSeconds = metrics.histogram(
      `${ip}allocation_duration_seconds`,
      '[ALPHA] Duration in seconds to allocate a Cluster IP by ServiceCIDR',
      secondsBounds,
      ['cidr'],
    )
    this.#allocatedPorts = metrics.gauge(
      `${port}allocated_ports`,
      '[ALPHA] Gauge measuring the number of allocated NodePorts for Services',
    )
    this.#availablePorts = metrics.gauge(
      `${port}available_ports`,
      '[ALPHA] Gauge measuring the number of available NodePorts for Services',
    )
    this.#ports = metrics.counter(`${port}allocation_total`, '[ALPHA] Number of NodePort allocations', ['scope'])
    this.#portErrors = metrics.counter(
      `${port}allocation_errors_total`,
      '[ALPHA] Number of errors trying to allocate NodePort',
      ['scope'],
    )
    this.#repairErrors = metrics.counter(
      'apiserver_nodeport_repair_reconcile_errors_total',
      '[ALPHA] Number of reconciliation failures on the nodeport repair reconcile loop',
    )
    this.#repairErrors.add({}, 0)
  }

  addressAllocated(cidr: string, scope: AllocationScope, seconds: number): void {
    this.#ips.add({ cidr, scope })
    this.#ipSeconds.observe({ cidr }, seconds)
  }

  addressRefused(cidr: string, scope: AllocationScope): void {
    this.#ipErrors.add({ cidr, scope })
  }

  portAllocated(scope: AllocationScope): void {
    this.#ports.add({ scope })
  }

  portRefused(scope: AllocationScope): void {
    this.#portErrors.add({ scope })
  }

  repairFailed(): void {
    this.#repairErrors.add({})
  }

  /** The gauges of a range that was deleted are removed. */
  collect({ addresses, ports }: AllocatorUsage): void {
    for (const [cidr, { allocated, available }] of addresses) {
      this.#allocatedIps.set({ cidr }, allocated)
      this.#availableIps.set({ cidr }, available)
    }
    const shown = new Set(addresses.keys())
    for (const cidr of this.#shown.difference(shown))
      for (const gauge of [this.#allocatedIps, this.#availableIps]) gauge.remove({ cidr })
    this.#shown = shown
    this.#allocatedPorts.set({}, ports.allocated)
    this.#availablePorts.set({}, ports.available)
  }
}
