// ServiceRecords: one Service and its EndpointSlices, and what their records consist of. A slice is read on the first lookup
// after it has changed, so that a change costs no more than its own slice.
import { parseIpsSloppy } from '../../base/net/sloppy-address.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { recordType } from '../message/record.ts'
import { PortIndex } from './port-index.ts'
import { SliceEndpoints, type RecordEndpoint } from './slice-endpoints.ts'
import type { ZoneAnswer } from './zone-answer.ts'

export class ServiceRecords {
  /** `<service>.<namespace>` */
  readonly key: string
  readonly #slices = new Map<string, SliceEndpoints>()
  #service: Service | undefined
  #clusterAddresses: readonly string[] = []
  #ports: PortIndex | undefined
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

  /** The ports of the Service itself. */
  get ports(): PortIndex {
    return (this.#ports ??= new PortIndex(this.#service?.spec.ports))
  }

  setService(service: Service | undefined): void {
    this.#service = service
    this.#clusterAddresses = clusterAddressesOf(service)
    this.#ports = undefined
    this.#answers = undefined
  }

  setSlice(name: string, slice: EndpointSlice | undefined): void {
    if (slice === undefined) this.#slices.delete(name)
    else this.#slices.set(name, new SliceEndpoints(slice))
    this.#answers = undefined
  }

  /** The answer for the name of the Service itself, if it was computed since the last change. */
  knownAnswer(type: number): ZoneAnswer | undefined {
    return this.#answers?.get(type)
  }

  keepAnswer(type: number, answer: ZoneAnswer): void {
    if (!keptTypes.has(type)) return
    if (answer.kind === 'records' && answer.records.length > keptRecordsMax) return
    ;(this.#answers ??= new Map()).set(type, answer)
  }

  /** Neither the Service nor a slice of it exists. */
  get isEmpty(): boolean {
    return this.#service === undefined && this.#slices.size === 0
  }

  /** Ready endpoints. */
  *endpoints(): Generator<RecordEndpoint> {
    for (const slice of this.#slices.values()) yield* slice.all
  }

  /** Ready endpoints with this first label of their name. */
  *endpointsOf(label: string): Generator<RecordEndpoint> {
    for (const slice of this.#slices.values()) yield* slice.ofLabel(label)
  }

  /** Ready endpoints with this address. */
  *endpointsAt(address: string): Generator<RecordEndpoint> {
    for (const slice of this.#slices.values()) yield* slice.ofAddress(address)
  }
}

function clusterAddressesOf(service: Service | undefined): readonly string[] {
  if (service === undefined || service.spec.type === 'ExternalName') return noAddresses
  const { clusterIP = '', clusterIPs = [clusterIP] } = service.spec
  return parseIpsSloppy(clusterIPs)
}

const noAddresses: readonly string[] = []
/** Few, because clients choose the types. */
const keptTypes: ReadonlySet<number> = new Set([recordType.A, recordType.AAAA, recordType.SRV])
/** A longer answer is computed again: ports multiply endpoints, so it may be much larger than its objects. */
const keptRecordsMax = 100
