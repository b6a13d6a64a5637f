// ServiceRecords: one Service and its EndpointSlices, and what their records consist of. The endpoints are computed on
// the first lookup after a change, so that a change costs no more than its own slice.
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { canonicalAddress } from '../message/ip-address.ts'
import { recordType } from '../message/record.ts'
import type { ZoneAnswer } from './zone-answer.ts'

export interface RecordPort {
  readonly name: string
  /** In lower case. */
  readonly protocol: string
  /** Undefined for a slice of any port. */
  readonly port: number | undefined
}

export interface RecordEndpoint {
  /** The first label of its name: its hostname, or its address with dashes. */
  readonly label: string
  readonly hasHostname: boolean
  readonly address: string
  readonly ports: readonly RecordPort[]
}

interface Endpoints {
  readonly all: readonly RecordEndpoint[]
  readonly byLabel: ReadonlyMap<string, readonly RecordEndpoint[]>
}

export class ServiceRecords {
  /** `<service>.<namespace>` */
  readonly key: string
  readonly #slices = new Map<string, EndpointSlice>()
  #service: Service | undefined
  #clusterAddresses: readonly string[] = []
  #endpoints: Endpoints | undefined
  #answers: Map<number, ZoneAnswer> | undefined

  constructor(key: string) {
    this.key = key
  }

  get service(): Service | undefined {
    return this.#service
  }

  /** In canonical form; none for headless and ExternalName Services. */
  get clusterAddresses(): readonly string[] {
    return this.#clusterAddresses
  }

  setService(service: Service | undefined): void {
    this.#service = service
    this.#clusterAddresses = clusterAddressesOf(service)
    this.#answers = undefined
  }

  setSlice(name: string, slice: EndpointSlice | undefined): void {
    if (slice === undefined) this.#slices.delete(name)
    else this.#slices.set(name, slice)
    this.#endpoints = undefined
    this.#answers = undefined
  }

  /** The answer for the name of the Service itself, if it was computed since the last change. */
  knownAnswer(type: number): ZoneAnswer | undefined {
    return this.#answers?.get(type)
  }

  keepAnswer(type: number, answer: ZoneAnswer): void {
    if (keptTypes.has(type)) (this.#answers ??= new Map()).set(type, answer)
  }

  /** Neither the Service nor a slice of it exists. */
  get isEmpty(): boolean {
    return this.#service === undefined && this.#slices.size === 0
  }

  /** Ready endpoints. */
  get endpoints(): readonly RecordEndpoint[] {
    return this.#current().all
  }

  endpointsOf(label: string): readonly RecordEndpoint[] {
    return this.#current().byLabel.get(label) ?? []
  }

  #current(): Endpoints {
    return (this.#endpoints ??= endpointsOfSlices(this.#slices.values()))
  }
}

function clusterAddressesOf(service: Service | undefined): readonly string[] {
  if (service === undefined || service.spec.type === 'ExternalName') return noAddresses
  const { clusterIP = '', clusterIPs = [clusterIP] } = service.spec
  return clusterIPs.map(canonicalAddress).filter((address) => address !== undefined)
}

const noAddresses: readonly string[] = []
/** Few, because clients choose the types. */
const keptTypes: ReadonlySet<number> = new Set([recordType.A, recordType.AAAA, recordType.SRV])

function endpointsOfSlices(slices: Iterable<EndpointSlice>): Endpoints {
  const all = Array.from(slices).flatMap(endpointsOfSlice)
  const byLabel = new Map<string, RecordEndpoint[]>()
  for (const endpoint of all) getOrInsert(byLabel, endpoint.label, newList).push(endpoint)
  return { all, byLabel }
}

const newList = (): RecordEndpoint[] => []

function endpointsOfSlice({ endpoints, ports }: EndpointSlice): RecordEndpoint[] {
  const recordPorts = (ports ?? []).map(({ name, protocol, port }) => ({
    name,
    protocol: protocol.toLowerCase(),
    port,
  }))
  const found: RecordEndpoint[] = []
  for (const { addresses, hostname = '', conditions } of endpoints ?? []) {
    if (conditions?.ready === false) continue
    for (const text of addresses) {
      const address = canonicalAddress(text)
      // Slices of domain names have no records.
      if (address === undefined) continue
      const label = hostname === '' ? dashedAddress(address) : hostname
      found.push({ label, hasHostname: hostname !== '', address, ports: recordPorts })
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
  return canonicalAddress(label.replaceAll('-', isIpV4 ? '.' : ':'))
}

/** Addresses of all endpoints of a slice, whether ready or not. */
export function* addressesOfSlice(slice: EndpointSlice | undefined): Generator<string> {
  for (const { addresses } of slice?.endpoints ?? [])
    for (const text of addresses) {
      const address = canonicalAddress(text)
      if (address !== undefined) yield address
    }
}
