// Addresses of a Service: IP families, cluster IPs of these families, and external addresses.
import { append } from '../../../../base/collections/append.ts'
import { areRepeated } from '../../../../base/collections/first-indexes.ts'
import { familyOf } from '../../../../base/net/address-family.ts'
import {
  duplicate,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { ipErrors } from '../../../validation/network-rules.ts'
import { specialAddressErrors } from '../../../validation/special-address-rules.ts'
import type { ServiceSpec } from './service-spec.ts'

const none = 'None'
const clusterAddressesMax = 2
const families = ['IPv4', 'IPv6']

/** A headless service has no cluster IP: its name resolves to the pods. */
export const isHeadless = ({ clusterIPs }: Pick<ServiceSpec, 'clusterIPs'>): boolean =>
  clusterIPs?.length === 1 && clusterIPs[0] === none

/** clusterIPs follows from clusterIP where only that is given. */
export const withClusterAddresses = (spec: ServiceSpec): ServiceSpec =>
  spec.clusterIPs === undefined && spec.clusterIP !== undefined ? { ...spec, clusterIPs: [spec.clusterIP] } : spec

export function validateClusterAddresses(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName') return []
  const { clusterIP, clusterIPs = [], ipFamilies = [] } = spec
  const errors: FieldError[] = []
  if (clusterIP === undefined && clusterIPs.length > 0)
    errors.push(invalid('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified'))
  else if (clusterIP !== undefined && clusterIPs.length === 0) errors.push(required('spec.clusterIPs'))
  else if (clusterIP !== clusterIPs[0])
    errors.push(invalid('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`'))
  const repeated = areRepeated(ipFamilies)
  for (const [index, family] of ipFamilies.entries()) {
    if (!families.includes(family)) errors.push(notSupported(`spec.ipFamilies[${index}]`, family, families))
    if (repeated[index]) errors.push(duplicate(`spec.ipFamilies[${index}]`, family))
  }
  const malformed = validateForm(clusterIPs)
  append(errors, malformed)
  if (clusterIPs.length > clusterAddressesMax)
    errors.push(invalid('spec.clusterIPs', clusterIPs, `may only hold up to ${clusterAddressesMax} values`))
  return malformed.length > 0 ? errors : [...errors, ...validateFamilies(spec)]
}

function validateForm(clusterIPs: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, address] of clusterIPs.entries())
    if (index > 0 || address !== none)
      append(
        errors,
        ipErrors(address).map((detail) => invalid(`spec.clusterIPs[${index}]`, address, detail)),
      )
    else if (clusterIPs.length > 1)
      errors.push(invalid('spec.clusterIPs', clusterIPs, "'None' must be the first and only value"))
  return errors
}

function validateFamilies(spec: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec
  const errors: FieldError[] = []
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size === 1)
    errors.push(invalid('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family'))
  if (isHeadless(spec)) return errors
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index]
    if (family !== undefined && families.includes(family) && familyOf(address) !== family)
      errors.push(
        invalid(
          `spec.clusterIPs[${index}]`,
          address,
          `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
        ),
      )
  }
  return errors
}

export const validateExternalAddresses = ({ externalIPs = [] }: ServiceSpec): FieldError[] =>
  externalIPs.flatMap((address, index) => {
    const malformed = ipErrors(address)
    return (malformed.length > 0 ? malformed : specialAddressErrors(address)).map((detail) =>
      invalid(`spec.externalIPs[${index}]`, address, detail),
    )
  })
