// Node ports: the port of every node that leads to a Service. An allocated port is a key in the store.
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { keyOf, type ObjectKey } from '../../../api/meta/object.ts'
import type { Allocation } from '../../registry/resource/allocations.ts'
import { registryPrefix } from '../../storage/store-keys.ts'
import type { StrategyContext } from '../../registry/resource/strategy.ts'
import type { AllocationMeasures } from './allocation-measures.ts'
import { freeNumber, reservedCount } from './free-number.ts'
import type { ServiceRanges } from './service-ranges.ts'

export const portPrefix = `${registryPrefix}ranges/servicenodeports/`

/** The node ports of a Service, without duplicates. */
export function nodePortsOf({ spec }: Service): number[] {
  const ports = [...(spec.ports ?? []).map(({ nodePort }) => nodePort), spec.healthCheckNodePort]
  return [...new Set(ports.filter((port) => port !== undefined))]
}

export const portAllocation = (object: Service, port: number): Allocation => ({
  key: portKey(port),
  value: () => portValue(object),
})

export const portKey = (port: number): string => `${portPrefix}${port}`

/** The value of a key: the Service that has the port. */
export const portValue = (object: Service): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ holder: keyOf(object) }))

/** The key of the Service that has the port, from the value of a key; undefined if there is none. */
export function holderOf(value: Uint8Array): string | undefined {
  return (JSON.parse(new TextDecoder().decode(value)) as { readonly holder?: string }).holder
}

/** Allocates node ports for one Service: none that another Service has, and none twice. */
export class NodePortAllocator {
  readonly #context: StrategyContext
  readonly #self: ObjectKey
  readonly #range: ServiceRanges['nodePorts']
  readonly #metrics: AllocationMeasures['metrics']
  #known: Set<number> | undefined
  #nextDryRunPort: number

  constructor(
    context: StrategyContext,
    range: ServiceRanges['nodePorts'],
    { metrics }: AllocationMeasures,
    self: ObjectKey,
  ) {
    this.#context = context
    this.#metrics = metrics
    this.#range = range
    this.#nextDryRunPort = range.last + 2
    this.#self = self
  }

  /** Computed on first use: most Services need no node port. */
  get #taken(): Set<number> {
    if (this.#known === undefined) {
      this.#known = new Set()
      for (const object of this.#context.list(service))
        if (keyOf(object) !== this.#self) for (const port of nodePortsOf(object)) this.#known.add(port)
    }
    return this.#known
  }

  /** Allocates this port; returns the reason where it cannot be allocated. */
  take(port: number): string | undefined {
    const { first, last } = this.#range
    if (port < first || port > last)
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    const isTaken = this.#taken.has(port)
    if (!this.#context.isDryRun)
      if (isTaken) this.#metrics.portRefused('static')
      else this.#metrics.portAllocated('static')
    if (isTaken) return 'provided port is already allocated'
    this.#taken.add(port)
    return undefined
  }

  /**
   * Allocates any free port; undefined where there is none. A dry run returns numbers outside of the range, as
   * upstream.
   */
  takeAny(): number | undefined {
    if (this.#context.isDryRun) return this.#nextDryRunPort++
    const { first, last } = this.#range
    const range = { first, last, reserved: reservedCount(last - first + 1, 32, 128) }
    const port = freeNumber(range, this.#context.random, (candidate) => this.#taken.has(candidate))
    if (port === undefined) this.#metrics.portRefused('dynamic')
    else {
      this.#metrics.portAllocated('dynamic')
      this.#taken.add(port)
    }
    return port
  }
}
