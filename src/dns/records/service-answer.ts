// The records of one Service: its own name, the names of its ports and the names of its endpoints.
import type { Service } from '../../api/core/v1/service/service.ts'
import { messageBytesMax } from '../message/header.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'
import type { PortIndex, RecordPort } from './port-index.ts'
import type { ServiceRecords } from './service-records.ts'
import type { RecordEndpoint } from './slice-endpoints.ts'
import { addressRecord, addressType, locationRecord } from './zone-records.ts'

export type Answer =
  | {
      readonly kind: 'records'
      readonly records: readonly ResourceRecord[]
      readonly additional: readonly ResourceRecord[]
    }
  | { readonly kind: 'no-data' }
  | { readonly kind: 'no-name' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'alias'; readonly target: string }

/** An address and the ports under which it can be reached at `target`. */
interface Location {
  readonly target: string
  readonly address: string
  readonly ports: readonly RecordPort[]
}

interface UnselectedLocation extends Omit<Location, 'ports'> {
  readonly ports: PortIndex
}

/** A name below a Service, relative to it. */
type Selection =
  | { readonly kind: 'service' }
  | { readonly kind: 'endpoint'; readonly label: string }
  | { readonly kind: 'protocol'; readonly protocol: string }
  | { readonly kind: 'port'; readonly port: string; readonly protocol: string }

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === 'None'

/** The target of an ExternalName Service; undefined for others. */
export const aliasOf = ({ spec }: Service): string | undefined =>
  spec.type === 'ExternalName' ? (spec.externalName ?? '').toLowerCase().replace(/\.$/, '') : undefined

/** `labels` are those before the name of the Service. */
export function serviceAnswer(
  records: ServiceRecords,
  name: string,
  labels: readonly string[],
  type: number,
  domain: string,
): Answer {
  const selection = selectionOf(labels)
  if (selection === undefined || records.service === undefined) return { kind: 'no-name' }
  const selected = () => locationsOf(records, selection, `${records.key}.svc.${domain}`)
  if (selected().next().done === true) return { kind: 'no-name' }
  // A name between two others: the protocol has ports but no records.
  if (selection.kind === 'protocol') return { kind: 'no-data' }
  if (type === recordType.SRV) return portsAnswer(name, selected())
  const found = addressesOf(selected(), type)
  if (found.length === 0) return { kind: 'no-data' }
  return { kind: 'records', records: found.map((address) => addressRecord(name, address)), additional: [] }
}

function selectionOf(labels: readonly string[]): Selection | undefined {
  const [first = '', second = ''] = labels
  if (labels.length === 0) return { kind: 'service' }
  if (labels.length === 1)
    return first.startsWith('_') ? { kind: 'protocol', protocol: first.slice(1) } : { kind: 'endpoint', label: first }
  if (labels.length > 2 || !first.startsWith('_') || !second.startsWith('_')) return undefined
  return { kind: 'port', port: first.slice(1), protocol: second.slice(1) }
}

/** The addresses of the Service or of its endpoints, each with the ports that the selection includes. */
function* locationsOf(records: ServiceRecords, selection: Selection, name: string): Generator<Location> {
  for (const { target, address, ports } of allLocations(records, selection, name)) {
    const selected = selectedPorts(ports, selection)
    if (selected !== undefined) yield { target, address, ports: selected }
  }
}

function* allLocations(records: ServiceRecords, selection: Selection, name: string): Generator<UnselectedLocation> {
  const { service, clusterAddresses, ports } = records
  if (selection.kind === 'endpoint')
    for (const endpoint of records.endpointsOf(selection.label)) yield endpointLocation(endpoint, name)
  else if (service !== undefined && isHeadless(service))
    for (const endpoint of records.endpoints()) yield endpointLocation(endpoint, name)
  else for (const address of clusterAddresses) yield { target: name, address, ports }
}

const endpointLocation = ({ label, address, ports }: RecordEndpoint, name: string): UnselectedLocation => ({
  target: `${label}.${name}`,
  address,
  ports,
})

/** Undefined if the location is not selected. */
function selectedPorts(ports: PortIndex, selection: Selection): readonly RecordPort[] | undefined {
  if (selection.kind === 'protocol') return ports.hasProtocol(selection.protocol) ? ports.all : undefined
  if (selection.kind !== 'port') return ports.all
  const named = ports.named(selection.port, selection.protocol)
  return named.length === 0 ? undefined : named
}

/** The first addresses of the type: one more than a message contains, so that it is marked as truncated. */
function addressesOf(locations: Iterable<Location>, type: number): readonly string[] {
  const found = new Set<string>()
  for (const { address } of locations) {
    if (addressType(address) === type) found.add(address)
    if (found.size * addressBytesMin > messageBytesMax) break
  }
  return [...found]
}

/**
 * SRV records with equal weights, and the addresses of their targets. Ports multiply endpoints, so the records are built
 * only until they exceed a message, which is then marked as truncated.
 */
function portsAnswer(name: string, locations: Iterable<Location>): Answer {
  const unique = new Map<string, { port: number; target: string }>()
  const additional = new Map<string, ResourceRecord>()
  let bytes = 0
  for (const { target, address, ports } of locations) {
    for (const { port } of ports) {
      if (bytes > messageBytesMax) break
      if (port === undefined) continue
      const key = `${port} ${target}`
      if (!unique.has(key)) bytes += locationBytesMin + target.length
      unique.set(key, { port, target })
    }
    if (bytes > messageBytesMax) break
    additional.set(`${address} ${target}`, addressRecord(target, address))
  }
  if (unique.size === 0) return { kind: 'no-data' }
  const weight = Math.max(1, Math.floor(100 / unique.size))
  return {
    kind: 'records',
    records: Array.from(unique.values(), ({ port, target }) => locationRecord(name, weight, port, target)),
    additional: [...additional.values()],
  }
}

/** Of a record: a pointer to its name, its type, class, time to live and length. */
const recordBytesMin = 12
const addressBytesMin = recordBytesMin + 4
/** Priority, weight and port, and the ends of the target. */
const locationBytesMin = recordBytesMin + 8
