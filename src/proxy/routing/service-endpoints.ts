// ServiceEndpoints: the endpoints of each port of a Service in one address family. The slices are read once, whatever the
// number of ports.
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { parsePort } from '../../base/net/port.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import { portEndpoint, type NodeTopology, type PortEndpoint } from './endpoint-selection.ts'

/**
 * Ports times endpoints of one Service. An object has a limited size, but this product has not: of a Service that has more,
 * each port uses a part of the endpoints.
 */
export const portEndpointsMax = 100_000

/** A port of a Service or of a slice, by which they are matched. */
export interface PortIdentity {
  readonly name?: string | undefined
  readonly protocol: string
}

/** The endpoints of a slice, and the number that a port has in it. */
interface SlicePort {
  readonly endpoints: readonly PortEndpoint[]
  readonly port: number
}

interface ReadSlice {
  readonly ports: NonNullable<EndpointSlice['ports']>
  endpoints: readonly PortEndpoint[]
}

export class ServiceEndpoints {
  readonly #byPort = new Map<string, SlicePort[]>()
  /** The number of endpoints in all slices. */
  #count = 0
  readonly #perPortMax: number

  private constructor(ports: number) {
    this.#perPortMax = Math.max(1, Math.floor(portEndpointsMax / Math.max(1, ports)))
  }

  /** `ports` is the number of ports that the Service has. */
  static *read(
    slices: readonly EndpointSlice[],
    node: NodeTopology,
    ports: number,
    time: Slice,
  ): Sliced<ServiceEndpoints> {
    const read = new ServiceEndpoints(ports)
    const found: ReadSlice[] = []
    for (const { addressType, endpoints, ports: ofSlice } of slices) {
      const ofFamily = (endpoints ?? [])
        .flatMap((endpoint) => portEndpoint(endpoint, 0, node) ?? [])
        .filter(({ address }) => familyOf(address) === addressType)
      read.#count += ofFamily.length
      found.push({ ports: ofSlice ?? [], endpoints: ofFamily })
      if (time.isUsedUp()) yield
    }
    // What is left out is what matters least on this node.
    if (read.isCut) {
      for (const each of found) each.endpoints = each.endpoints.toSorted((a, b) => worth(b) - worth(a))
      found.sort((a, b) => worthOf(b.endpoints) - worthOf(a.endpoints))
    }
    for (const each of found) yield* read.#add(each, time)
    return read
  }

  /** Whether ports may have endpoints that they do not use. */
  get isCut(): boolean {
    return this.#count > this.#perPortMax
  }

  get perPortMax(): number {
    return this.#perPortMax
  }

  /**
   * The endpoints of one port, in whatever state. An endpoint can be in two slices while it moves between them; the one in
   * the better state is used.
   */
  of(port: PortIdentity): readonly PortEndpoint[] {
    const found = new Map<string, PortEndpoint>()
    for (const { endpoints, port: number } of this.#byPort.get(idOf(port)) ?? [])
      for (const endpoint of endpoints) {
        const key = `${endpoint.address} ${number}`
        const known = found.get(key)
        if (known === undefined && found.size === this.#perPortMax) return [...found.values()]
        if (known === undefined || rank(endpoint) > rank(known)) found.set(key, { ...endpoint, port: number })
      }
    return [...found.values()]
  }

  *#add({ ports, endpoints }: ReadSlice, time: Slice): Sliced<void> {
    const seen = new Set<string>()
    for (const { name, protocol = 'TCP', port } of ports) {
      if (time.isUsedUp()) yield
      const id = idOf({ name, protocol })
      if (seen.has(id)) continue
      seen.add(id)
      const number = port === undefined ? undefined : parsePort(port)
      if (number !== undefined) getOrInsert(this.#byPort, id, () => []).push({ endpoints, port: number })
    }
  }
}

const idOf = ({ name = '', protocol }: PortIdentity): string => `${name} ${protocol}`

const rank = ({ isReady, isServing }: PortEndpoint): number => (isReady ? 2 : isServing ? 1 : 0)

const worth = (endpoint: PortEndpoint): number => rank(endpoint) * 2 + (endpoint.isLocal ? 1 : 0)
const worthOf = ([first]: readonly PortEndpoint[]): number => (first === undefined ? -1 : worth(first))
