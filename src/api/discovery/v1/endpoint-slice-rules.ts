// Rules of an EndpointSlice: addresses of one type, ports with unique names, routing hints.
import { append } from '../../../base/collections/append.ts'
import { familyOf } from '../../../base/net/address-family.ts'
import { isIpSloppy } from '../../../base/net/sloppy-address.ts'
import { duplicate, invalid, required, tooMany, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateEntries } from '../../validation/list-size-rules.ts'
import { validateLabels } from '../../validation/metadata-rules.ts'
import { dnsLabelErrors, dnsSubdomainErrors, labelValueErrors, qualifiedNameErrors } from '../../validation/names.ts'
import { ipErrors } from '../../validation/network-rules.ts'
import { specialAddressErrors } from '../../validation/special-address-rules.ts'
import type { Endpoint, EndpointHints, EndpointPort } from './endpoint.ts'

interface Slice {
  readonly addressType: string
  readonly endpoints?: readonly Endpoint[] | null
  readonly ports?: readonly EndpointPort[] | null
}

const endpointsMax = 1000
const addressesMax = 100
const portsMax = 20_000
const hintsMax = 8
const topologyLabelsMax = 16

export const validateEndpointSlice = ({ addressType, endpoints, ports }: Slice): FieldError[] => [
  ...validateEntries(endpoints ?? [], 'endpoints', endpointsMax, (endpoint, path) =>
    validateEndpoint(endpoint, addressType, path),
  ),
  ...validatePorts(ports ?? []),
]

const invalidAll = (path: string, value: unknown, details: readonly string[]): FieldError[] =>
  details.map((detail) => invalid(path, value, detail))

function validateEndpoint(endpoint: Endpoint, type: string, path: string): FieldError[] {
  const { addresses, hostname, nodeName, deprecatedTopology = {}, hints } = endpoint
  const errors: FieldError[] = []
  const at = `${path}.addresses`
  if (addresses === undefined || addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'))
  else if (addresses.length > addressesMax) errors.push(tooMany(at, addresses.length, addressesMax))
  for (const [index, address] of (addresses ?? []).entries())
    append(errors, validateAddress(address, type, `${at}[${index}]`))
  if (nodeName !== undefined) append(errors, invalidAll(`${path}.nodeName`, nodeName, dnsSubdomainErrors(nodeName)))
  const topology = `${path}.deprecatedTopology`
  const labelsCount = Object.keys(deprecatedTopology).length
  if (labelsCount > topologyLabelsMax) errors.push(tooMany(topology, labelsCount, topologyLabelsMax))
  append(errors, validateLabels(deprecatedTopology, topology))
  if (hostname !== undefined) append(errors, invalidAll(`${path}.hostname`, hostname, dnsLabelErrors(hostname)))
  return hints === undefined ? errors : [...errors, ...validateHints(hints, `${path}.hints`)]
}

/** Unknown types are rejected by the enumeration; their addresses are not checked. */
function validateAddress(address: string, type: string, path: string): FieldError[] {
  if (type === 'FQDN') return validateDomainName(address, path)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const [error = ''] = ipErrors(address)
  if (familyOf(address) === 'IPv6' && isIpSloppy(address) && error !== '') return [invalid(path, address, error)]
  if (error !== '' || familyOf(address) !== type) return [invalid(path, address, `must be a valid ${type} address`)]
  return invalidAll(path, address, specialAddressErrors(address))
}

function validateDomainName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)]
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  const errors = invalidAll(path, bare, dnsSubdomainErrors(bare))
  if (errors.length === 0 && !bare.includes('.'))
    errors.push(invalid(path, bare, 'should be a domain with at least two segments separated by dots'))
  return errors
}

const validateHints = ({ forZones = [], forNodes = [] }: EndpointHints, path: string): FieldError[] => [
  ...validateHintNames(forZones, `${path}.forZones`, labelValueErrors),
  ...validateHintNames(forNodes, `${path}.forNodes`, dnsSubdomainErrors),
]

function validateHintNames(
  hints: readonly { readonly name: string }[],
  path: string,
  nameErrors: (name: string) => string[],
): FieldError[] {
  const seen = new Set<string>()
  return validateEntries(hints, path, hintsMax, ({ name }, at) => {
    const errors = seen.has(name) ? [duplicate(`${at}.name`, name)] : []
    seen.add(name)
    return [...errors, ...invalidAll(`${at}.name`, name, nameErrors(name))]
  })
}

function validatePorts(ports: readonly EndpointPort[]): FieldError[] {
  const seen = new Set<string>()
  return validateEntries(ports ?? [], 'ports', portsMax, ({ name, appProtocol }, at) => {
    const errors = name === '' ? [] : invalidAll(`${at}.name`, name, dnsLabelErrors(name))
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name))
    seen.add(name)
    if (appProtocol !== undefined)
      append(errors, invalidAll(`${at}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol)))
    return errors
  })
}
