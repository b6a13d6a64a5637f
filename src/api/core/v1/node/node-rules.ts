// Rules of a Node: its taints and ranges, its status, and what may change in its spec.
import { areRepeated } from '../../../../base/collections/first-indexes.ts'
import { familyOf } from '../../../../base/net/address-family.ts'
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { cidrErrors } from '../../../validation/network-rules.ts'
import { taintEffects } from '../scheduling/affinity.ts'
import { validateResourceAmount } from '../resources/resource-name-rules.ts'

interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

/** The fields that are checked here. The kind's own file imports this one. */
interface Node {
  readonly spec: {
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly providerID?: string
    readonly taints?: readonly Taint[]
  }
  readonly status: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatable?: Readonly<Record<string, string>>
  }
}

export const validateNode = ({ spec, status }: Node, old?: Node): FieldError[] => [
  ...validateTaints(spec.taints ?? [], 'spec.taints'),
  ...(['capacity', 'allocatable'] as const).flatMap((field) =>
    Object.entries(status[field] ?? {}).flatMap(([name, amount]) =>
      validateResourceAmount(name, amount, `status.${field}.${name}`),
    ),
  ),
  ...validateRanges(rangesOf(spec), new Set(old?.spec.podCIDRs), 'spec.podCIDRs'),
]

export function validateTaints(taints: readonly Taint[], path: string): FieldError[] {
  const repeated = areRepeated(taints, ({ key, effect }) => JSON.stringify([key, effect]))
  return taints.flatMap((taint, index) => {
    const { key, value = '', effect } = taint
    const at = `${path}[${index}]`
    return [
      ...qualifiedNameErrors(key ?? '').map((detail) => invalid(`${at}.key`, key ?? '', detail)),
      ...labelValueErrors(value).map((detail) => invalid(`${at}.value`, value, detail)),
      ...validateEffect(effect, `${at}.effect`),
      ...(repeated[index] ? [taintTwice(taint, at)] : []),
    ]
  })
}

function validateEffect(effect: string | undefined, path: string): FieldError[] {
  if (!effect) return [required(path)]
  return taintEffects.some((known) => known === effect) ? [] : [notSupported(path, effect, taintEffects)]
}

const taintTwice = ({ key, value = '', effect, timeAdded }: Taint, path: string): FieldError => {
  const error = duplicate(path, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null })
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` }
}

/** As upstream, `podCIDR` decides if it differs from the first of `podCIDRs`. */
function rangesOf({ podCIDR, podCIDRs = [] }: Node['spec']): readonly string[] {
  return !podCIDR || podCIDRs[0] === podCIDR ? podCIDRs : [podCIDR]
}

function validateRangesUpdate(ranges: readonly string[], old: readonly string[], path: string): FieldError[] {
  if (old.length === 0) return []
  const error = forbidden(path, 'node updates may not change podCIDR except from "" to valid')
  if (ranges.length !== old.length) return [error]
  return ranges.flatMap((range, index) => (range === old[index] ? [] : [error]))
}

/** One range, or one of each family. */
function validateRanges(ranges: readonly string[], stored: ReadonlySet<string>, path: string): FieldError[] {
  const errors = ranges.flatMap((range, index) =>
    cidrErrors(range, stored).map((detail) => invalid(`${path}[${index}]`, range, detail)),
  )
  const ofSix = ranges.filter((range) => familyOf(range) === 'IPv6').length
  if (ranges.length > 2 || (ranges.length === 2 && ofSix !== 1))
    errors.push(invalid(path, ranges, 'may specify no more than one CIDR for each IP family'))
  return errors
}

/** Values that were assigned to a node cannot change. */
export const validateNodeUpdate = ({ spec, status }: Node, { spec: old }: Node): FieldError[] => [
  ...validateAddressesOnce(status),
  ...validateRangesUpdate(rangesOf(spec), rangesOf(old), 'spec.podCIDRs'),
  ...(old.providerID !== undefined && spec.providerID !== old.providerID
    ? [forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')]
    : []),
]

function validateAddressesOnce({ addresses = [] }: Node['status']): FieldError[] {
  const repeated = areRepeated(addresses, ({ type, address }) => JSON.stringify([type, address]))
  return addresses.flatMap(({ type, address }, index) =>
    repeated[index] ? [duplicate(`status.addresses[${index}]`, { Type: type, Address: address })] : [],
  )
}
