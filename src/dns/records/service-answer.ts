// The records of one Service: its own name, the names of its ports and the names of its endpoints.
import type { Service } from '../../api/core/v1/service/service.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'
import type { RecordEndpoint, RecordPort, ServiceRecords } from './service-records.ts'
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
  const selected = locationsOf(records.service, records, selection, `${records.key}.svc.${domain}`)
  if (selected.length === 0) return { kind: 'no-name' }
  // A name between two others: the protocol has ports but no records.
  if (selection.kind === 'protocol') return { kind: 'no-data' }
  if (type === recordType.SRV) return portsAnswer(name, selected)
  const found = addressesOf(selected, type)
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
function locationsOf(
  service: Service,
  records: ServiceRecords,
  selection: Selection,
  name: string,
): readonly Location[] {
  if (selection.kind === 'endpoint') return records.endpointsOf(selection.label).map(endpointLocation(name))
  const all = isHeadless(service)
    ? records.endpoints.map(endpointLocation(name))
    : clusterLocations(service, records, name)
  if (selection.kind === 'service') return all
  const isSelected = (port: RecordPort) =>
    port.name !== '' &&
    port.protocol === selection.protocol &&
    (selection.kind === 'protocol' || port.name === selection.port)
  return all
    .map((location) => ({ ...location, ports: location.ports.filter(isSelected) }))
    .filter(({ ports }) => ports.length > 0)
}

const endpointLocation =
  (name: string) =>
  ({ label, address, ports }: RecordEndpoint): Location => ({ target: `${label}.${name}`, address, ports })

function clusterLocations(service: Service, { clusterAddresses }: ServiceRecords, target: string): Location[] {
  const ports = portsOf(service)
  return clusterAddresses.map((address) => ({ target, address, ports }))
}

const portsOf = ({ spec }: Service): RecordPort[] =>
  (spec.ports ?? []).map(({ name = '', protocol, port }) => ({ name, protocol: protocol.toLowerCase(), port }))

const addressesOf = (locations: readonly Location[], type: number): string[] => [
  ...new Set(locations.map(({ address }) => address).filter((address) => addressType(address) === type)),
]

/** SRV records with equal weights, and the addresses of their targets. */
function portsAnswer(name: string, locations: readonly Location[]): Answer {
  const unique = new Map<string, { port: number; target: string }>()
  for (const { target, ports } of locations)
    for (const { port } of ports) if (port !== undefined) unique.set(`${port} ${target}`, { port, target })
  if (unique.size === 0) return { kind: 'no-data' }
  const weight = Math.max(1, Math.floor(100 / unique.size))
  const additional = new Map(
    locations.map(({ target, address }) => [`${address} ${target}`, addressRecord(target, address)]),
  )
  return {
    kind: 'records',
    records: Array.from(unique.values(), ({ port, target }) => locationRecord(name, weight, port, target)),
    additional: [...additional.values()],
  }
}
