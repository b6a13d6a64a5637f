// Rules of a claim's spec, in a claim and in a template: defaults and validation.
import { append } from '../../../base/collections/append.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateEntries } from '../../validation/list-size-rules.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type {
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ResourceClaimSpec,
} from './device-requests.ts'
import {
  deviceListMax,
  validateConfiguration,
  validateFullAttributeName,
  validateLabel,
  validateSelector,
  validateToleration,
  validateUnique,
} from './device-rules.ts'
import { type Int64 } from '../../../schema/scalar/int64.ts'

const alternativesMax = 8
const oneOfBoth = 'exactly one of `exactly` or `firstAvailable` is required'
const nameOfRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** The common fields of a request and of its alternatives. */
interface Wanted {
  readonly deviceClassName: string
  readonly selectors?: readonly DeviceSelector[]
  readonly allocationMode?: 'All' | 'ExactCount'
  readonly count?: Int64
  readonly tolerations?: readonly DeviceToleration[]
}

export function withClaimDefaults(spec: ResourceClaimSpec): ResourceClaimSpec {
  const { requests } = spec.devices
  if (!requests) return spec
  return { ...spec, devices: { ...spec.devices, requests: requests.map(withRequestDefaults) } }
}

const withRequestDefaults = (request: DeviceRequest): DeviceRequest => ({
  ...request,
  ...(request.exactly === undefined ? {} : { exactly: withCount(request.exactly) }),
  ...(request.firstAvailable === undefined ? {} : { firstAvailable: request.firstAvailable.map(withCount) }),
})

/** One device by default. */
function withCount<T extends Wanted>(wanted: T): T {
  const allocationMode = wanted.allocationMode ?? 'ExactCount'
  return { ...wanted, allocationMode, ...(allocationMode === 'ExactCount' && !wanted.count ? { count: 1 } : {}) }
}

export function validateClaim({ devices }: ResourceClaimSpec, path: string): FieldError[] {
  const { constraints = [], config = [] } = devices
  const requests = devices.requests ?? []
  const at = `${path}.devices`
  const names = new Set(requests.flatMap(namesOf))
  return [
    ...validateEntries(requests, `${at}.requests`, deviceListMax, validateRequest),
    ...validateUnique(
      requests.map(({ name }) => name),
      `${at}.requests`,
    ),
    ...validateEntries(constraints, `${at}.constraints`, deviceListMax, (constraint, place) =>
      validateConstraint(constraint, place, names),
    ),
    ...validateEntries(config, `${at}.config`, deviceListMax, (configuration, place) =>
      validateClaimConfiguration(configuration, place, names),
    ),
  ]
}

/** The names by which a request can be referred to: its own, and those of its alternatives. */
const namesOf = ({ name, firstAvailable = [] }: DeviceRequest): string[] => [
  name,
  ...firstAvailable.map((alternative) => `${name}/${alternative.name}`),
]

function validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, path: string): FieldError[] {
  const errors = validateLabel(name, `${path}.name`)
  if (exactly !== undefined && firstAvailable.length > 0)
    return [...errors, invalid(path, undefined, `${oneOfBoth}, but multiple fields are set`)]
  if (exactly !== undefined) return [...errors, ...validateWanted(exactly, `${path}.exactly`)]
  if (firstAvailable.length === 0) return [...errors, required(path, oneOfBoth)]
  return [
    ...errors,
    ...validateEntries(firstAvailable, `${path}.firstAvailable`, alternativesMax, (alternative, place) => [
      ...validateLabel(alternative.name, `${place}.name`),
      ...validateWanted(alternative, place),
    ]),
    ...validateUnique(
      firstAvailable.map((alternative) => alternative.name),
      `${path}.firstAvailable`,
    ),
  ]
}

function validateWanted(wanted: Wanted, path: string): FieldError[] {
  const { deviceClassName: name, selectors = [], allocationMode, count = 0, tolerations = [] } = wanted
  const errors =
    name === ''
      ? [required(`${path}.deviceClassName`)]
      : dnsSubdomainErrors(name).map((detail) => invalid(`${path}.deviceClassName`, name, detail))
  append(errors, validateEntries(selectors, `${path}.selectors`, deviceListMax, validateSelector))
  if (allocationMode === 'All' && count !== 0)
    errors.push(invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'"))
  if (allocationMode === 'ExactCount' && count <= 0)
    errors.push(invalid(`${path}.count`, count, 'must be greater than zero'))
  for (const [index, toleration] of tolerations.entries())
    append(errors, validateToleration(toleration, `${path}.tolerations[${index}]`))
  return errors
}

function validateConstraint(constraint: DeviceConstraint, path: string, names: ReadonlySet<string>): FieldError[] {
  const { requests = [], matchAttribute, distinctAttribute } = constraint
  const errors = validateReferences(requests, `${path}.requests`, names)
  if (matchAttribute !== undefined)
    return [...errors, ...validateFullAttributeName(matchAttribute, `${path}.matchAttribute`)]
  if (distinctAttribute !== undefined)
    return [...errors, ...validateFullAttributeName(distinctAttribute, `${path}.distinctAttribute`)]
  const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
  return [...errors, required(path, detail)]
}

const validateClaimConfiguration = (
  configuration: DeviceClaimConfiguration,
  path: string,
  names: ReadonlySet<string>,
): FieldError[] => [
  ...validateReferences(configuration.requests ?? [], `${path}.requests`, names),
  ...validateConfiguration(configuration, path),
]

const validateReferences = (references: readonly string[], path: string, names: ReadonlySet<string>): FieldError[] => [
  ...validateEntries(references, path, deviceListMax, (reference, place) => {
    const parts = reference.split('/')
    if (parts.length > 2) return [invalid(place, reference, nameOfRequest)]
    return [
      ...parts.flatMap((part) => validateLabel(part, place)),
      ...(names.has(reference) ? [] : [invalid(place, reference, nameOfRequest)]),
    ]
  }),
  ...validateUnique(references, path),
]
