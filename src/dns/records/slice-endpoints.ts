// SliceEndpoints: the ready endpoints of one EndpointSlice as DNS needs them, by label and by address.
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { parseIpSloppy } from '../../base/net/sloppy-address.ts'
import { PortIndex } from './port-index.ts'

export interface RecordEndpoint {
  /** The first label of its name: its hostname, or its address with dashes. */
  readonly label: string
  readonly hasHostname: boolean
  readonly address: string
  /** Those of its slice. */
  readonly ports: PortIndex
}

interface Indexed {
  readonly all: readonly RecordEndpoint[]
  readonly byLabel: ReadonlyMap<string, readonly RecordEndpoint[]>
  readonly byAddress: ReadonlyMap<string, readonly RecordEndpoint[]>
}

export class SliceEndpoints {
  readonly #slice: EndpointSlice
  #indexed: Indexed | undefined

  constructor(slice: EndpointSlice) {
    this.#slice = slice
  }

  get all(): readonly RecordEndpoint[] {
    return this.#current().all
  }

  ofLabel(label: string): readonly RecordEndpoint[] {
    return this.#current().byLabel.get(label) ?? none
  }

  ofAddress(address: string): readonly RecordEndpoint[] {
    return this.#current().byAddress.get(address) ?? none
  }

  #current(): Indexed {
    return (this.#indexed ??= indexed(endpointsOf(this.#slice)))
  }
}

const none: readonly RecordEndpoint[] = []
const newList = (): RecordEndpoint[] => []

function indexed(all: readonly RecordEndpoint[]): Indexed {
  const byLabel = new Map<string, RecordEndpoint[]>()
  const byAddress = new Map<string, RecordEndpoint[]>()
  for (const endpoint of all) {
    getOrInsert(byLabel, endpoint.label, newList).push(endpoint)
    getOrInsert(byAddress, endpoint.address, newList).push(endpoint)
  }
  return { all, byLabel, byAddress }
}

function endpointsOf({ endpoints, ports }: EndpointSlice): RecordEndpoint[] {
  const index = new PortIndex(ports ?? [])
  const found: RecordEndpoint[] = []
  for (const { addresses, hostname = '', conditions } of endpoints ?? []) {
    if (conditions?.ready === false) continue
    for (const text of addresses) {
      const address = parseIpSloppy(text)
      // Slices of domain names have no records.
      if (address === undefined) continue
      const label = hostname === '' ? dashedAddress(address) : hostname
      found.push({ label, hasHostname: hostname !== '', address, ports: index })
    }
  }
  return found
}

/** `10-0-0-1`, `fd00--1`. A label neither begins nor ends with a dash, so a zero is added there. */
export function dashedAddress(address: string): string {
  const dashed = address.replaceAll(/[.:]/g, '-')
  return `${dashed.startsWith('-') ? '0' : ''}${dashed}${dashed.endsWith('-') ? '0' : ''}`
}

/** The address of a label such as `10-0-0-1`, in canonical form. */
export function addressOfDashed(label: string): string | undefined {
  const isIpV4 = /^\d+-\d+-\d+-\d+$/.test(label)
  return parseIp(label.replaceAll('-', isIpV4 ? '.' : ':'))
}

/** Addresses of all endpoints of a slice, whether ready or not. */
export function* addressesOfSlice(slice: EndpointSlice | undefined): Generator<string> {
  for (const { addresses } of slice?.endpoints ?? [])
    for (const text of addresses) {
      const address = parseIpSloppy(text)
      if (address !== undefined) yield address
    }
}
