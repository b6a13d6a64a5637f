// Rules of Endpoints: each subset has reachable addresses, and names for its ports if there are several.
import { append } from '../../../../base/collections/append.ts'
import { joinHostPort } from '../../../../base/net/host-port.ts'
import { invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { dnsLabelErrors, dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { ipErrors, portErrors } from '../../../validation/network-rules.ts'
import { specialAddressErrors } from '../../../validation/special-address-rules.ts'
import type { EndpointAddress, EndpointPort, EndpointSubset } from './endpoint-subset.ts'

const shownMax = 3

export function validateSubset(
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (addresses.length === 0 && notReadyAddresses.length === 0)
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'))
  for (const [index, address] of addresses.entries())
    append(errors, validateAddress(address, `${path}.addresses[${index}]`))
  for (const [index, address] of notReadyAddresses.entries())
    append(errors, validateAddress(address, `${path}.notReadyAddresses[${index}]`))
  for (const [index, port] of ports.entries())
    append(errors, validatePort(port, `${path}.ports[${index}]`, ports.length > 1))
  return errors
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, path: string): FieldError[] {
  const errors = ipErrors(ip).map((detail) => invalid(`${path}.ip`, ip, detail))
  if (hostname !== undefined)
    append(
      errors,
      dnsLabelErrors(hostname).map((detail) => invalid(`${path}.hostname`, hostname, detail)),
    )
  if (nodeName !== undefined)
    append(
      errors,
      dnsSubdomainErrors(nodeName).map((detail) => invalid(`${path}.nodeName`, nodeName, detail)),
    )
  return errors.length > 0 ? errors : specialAddressErrors(ip).map((detail) => invalid(`${path}.ip`, ip, detail))
}

function validatePort({ name, port, appProtocol }: EndpointPort, path: string, needsName: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (name !== undefined)
    append(
      errors,
      dnsLabelErrors(name).map((detail) => invalid(`${path}.name`, name, detail)),
    )
  else if (needsName) errors.push(required(`${path}.name`))
  append(
    errors,
    portErrors(port).map((detail) => invalid(`${path}.port`, port, detail)),
  )
  if (appProtocol !== undefined)
    append(
      errors,
      qualifiedNameErrors(appProtocol).map((detail) => invalid(`${path}.appProtocol`, appProtocol, detail)),
    )
  return errors
}

/** `10.0.0.1:80,10.0.0.2:80 + 4 more...` */
export function endpointsText(subsets: readonly EndpointSubset[] = []): string {
  if (subsets.length === 0) return '<none>'
  const total = subsets.reduce(
    (sum, { addresses = [], ports = [] }) => sum + addresses.length * Math.max(ports.length, 1),
    0,
  )
  const shown = [...endpointTexts(subsets).take(shownMax)].join(',')
  return total > shownMax ? `${shown} + ${total - shownMax} more...` : shown
}

/** Generates each combination of address and port one by one, since a subset may have very many. */
function* endpointTexts(subsets: readonly EndpointSubset[]): Generator<string> {
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) yield* addresses.map(({ ip }) => ip)
    for (const { port } of ports) for (const { ip } of addresses) yield joinHostPort(ip, port)
  }
}
