// PortIndex: the ports of a Service or an EndpointSlice by name, so that a query for one of thousands costs one lookup.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'

export interface RecordPort {
  readonly name: string
  /** In lower case. */
  readonly protocol: string
  /** Undefined for a slice of any port. */
  readonly port: number | undefined
}

interface PortFields {
  readonly name?: string
  readonly protocol: string
  readonly port?: number | undefined
}

export class PortIndex {
  readonly all: readonly RecordPort[]
  /** Named ports by protocol, then by name. */
  readonly #named = new Map<string, Map<string, RecordPort[]>>()

  constructor(ports: readonly PortFields[] = []) {
    this.all = ports.map(({ name = '', protocol, port }) => ({ name, protocol: protocol.toLowerCase(), port }))
    for (const port of this.all)
      if (port.name !== '') getOrInsert(getOrInsert(this.#named, port.protocol, newMap), port.name, newList).push(port)
  }

  hasProtocol(protocol: string): boolean {
    return this.#named.has(protocol)
  }

  named(name: string, protocol: string): readonly RecordPort[] {
    return this.#named.get(protocol)?.get(name) ?? none
  }
}

const none: readonly RecordPort[] = []
const newList = (): RecordPort[] => []
const newMap = () => new Map<string, RecordPort[]>()
