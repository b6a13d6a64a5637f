// Node ports: which port of every node leads to a Service. A taken port is a key of its own in the store.
import { service, type Service } from '../../../api/core/v1/service.ts'
import { keyOf, type ObjectKey } from '../../../api/object.ts'
import type { Claim } from '../claims.ts'
import { registryPrefix } from '../keys.ts'
import type { World } from '../strategy.ts'
import { freeNumber, keptBackOf } from './free-number.ts'

const [portMin, portMax] = [30_000, 32_767]

export const portPrefix = `${registryPrefix}ranges/servicenodeports/`

/** Every node port of a Service, each once. */
export function nodePortsOf({ spec }: Service): number[] {
  const ports = [...(spec.ports ?? []).map(({ nodePort }) => nodePort), spec.healthCheckNodePort]
  return [...new Set(ports.filter((port) => port !== undefined))]
}

export const portClaim = (object: Service, port: number): Claim => ({
  key: `${portPrefix}${port}`,
  value: () => new TextEncoder().encode(JSON.stringify({ holder: keyOf(object) })),
})

/** Hands out node ports to one Service: none that another has, none twice. */
export class PortChooser {
  readonly #world: World
  readonly #self: ObjectKey
  #known: Set<number> | undefined
  #imagined = portMax + 2

  constructor(world: World, self: ObjectKey) {
    this.#world = world
    this.#self = self
  }

  /** Most Services need no port and look through no others. */
  get #taken(): Set<number> {
    if (this.#known === undefined) {
      this.#known = new Set()
      for (const object of this.#world.list(service))
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
    if (this.#world.isDryRun) return this.#imagined++
    const size = portMax - portMin + 1
    const range = { first: portMin, last: portMax, keptBack: keptBackOf(size, 32, 128) }
    const port = freeNumber(range, this.#world.random, (candidate) => this.#taken.has(candidate))
    if (port !== undefined) this.#taken.add(port)
    return port
  }
}
