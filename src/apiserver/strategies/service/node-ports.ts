// Node ports: which port of every node leads to a Service. A taken port is a key of its own in the store.
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { keyOf, type ObjectKey } from '../../../api/meta/object.ts'
import type { Allocation } from '../../registry/allocations.ts'
import { registryPrefix } from '../../storage/store-keys.ts'
import type { StrategyContext } from '../../registry/strategy.ts'
import { freeNumber, reservedCount } from './free-number.ts'

const [portMin, portMax] = [30_000, 32_767]

export const portPrefix = `${registryPrefix}ranges/servicenodeports/`

/** Every node port of a Service, each once. */
export function nodePortsOf({ spec }: Service): number[] {
  const ports = [...(spec.ports ?? []).map(({ nodePort }) => nodePort), spec.healthCheckNodePort]
  return [...new Set(ports.filter((port) => port !== undefined))]
}

export const portAllocation = (object: Service, port: number): Allocation => ({
  key: `${portPrefix}${port}`,
  value: () => new TextEncoder().encode(JSON.stringify({ holder: keyOf(object) })),
})

/** Hands out node ports to one Service: none that another has, none twice. */
export class NodePortAllocator {
  readonly #context: StrategyContext
  readonly #self: ObjectKey
  #known: Set<number> | undefined
  #imagined = portMax + 2

  constructor(context: StrategyContext, self: ObjectKey) {
    this.#context = context
    this.#self = self
  }

  /** Most Services need no port and look through no others. */
  get #taken(): Set<number> {
    if (this.#known === undefined) {
      this.#known = new Set()
      for (const object of this.#context.list(service))
        if (keyOf(object) !== this.#self) for (const port of nodePortsOf(object)) this.#known.add(port)
    }
    return this.#known
  }

  /** Takes this port; returns why not when it may not be had. */
  take(port: number): string | undefined {
    if (port < portMin || port > portMax)
      return `provided port is not in the valid range. The range of valid ports is ${portMin}-${portMax}`
    if (this.#taken.has(port)) return 'provided port is already allocated'
    this.#taken.add(port)
    return undefined
  }

  /** Takes any free port; undefined when there is none. A dry run shows numbers beyond the range, as upstream does. */
  takeAny(): number | undefined {
    if (this.#context.isDryRun) return this.#imagined++
    const size = portMax - portMin + 1
    const range = { first: portMin, last: portMax, reserved: reservedCount(size, 32, 128) }
    const port = freeNumber(range, this.#context.random, (candidate) => this.#taken.has(candidate))
    if (port !== undefined) this.#taken.add(port)
    return port
  }
}
