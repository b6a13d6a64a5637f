// Rules of a ResourceSlice: its pool and its devices.
import { append } from '../../../base/collections/append.ts'
import {
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { validateDriverName } from '../../validation/driver-name-rules.ts'
import { validateEntries } from '../../validation/list-size-rules.ts'
import { dnsSubdomainErrors, labelValueErrors, qualifiedNameErrors } from '../../validation/names.ts'
import { validateAttributeName, validateLabel, validateUnique } from './device-rules.ts'
import { validateDeviceNodes, validateSliceNodes } from './slice-node-rules.ts'
import type {
  Counter,
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceTaint,
  ResourcePool,
  ResourceSliceSpec,
} from './resource-slice-spec.ts'

const devicesMax = 128
const devicesWithFeaturesMax = 64
const attributesMax = 32
const attributeValueMax = 64
const taintsMax = 16
const counterSetsMax = 8
const countersMax = 32
const consumptionsMax = 2
const bindingConditionsMax = 4
const poolNameMax = 253

/** https://semver.org, version 2.0.0. */
const semanticVersion =
  /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

export function validateSlice(spec: ResourceSliceSpec): FieldError[] {
  const { driver, pool, devices = [], sharedCounters = [], perDeviceNodeSelection = false } = spec
  return [
    ...validateDriverName(driver, 'spec.driver'),
    ...validatePool(pool),
    ...validateSliceNodes(spec),
    ...(devices.length > 0 && sharedCounters.length > 0
      ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...validateEntries(devices, 'spec.devices', maxOf(devices), (device, path) =>
      validateDevice(device, path, perDeviceNodeSelection),
    ),
    ...validateUnique(
      devices.map(({ name }) => name),
      'spec.devices',
    ),
    ...validateEntries(sharedCounters, 'spec.sharedCounters', counterSetsMax, validateCounterSet),
    ...validateUnique(
      sharedCounters.map(({ name }) => name),
      'spec.sharedCounters',
    ),
  ]
}

/** Devices with more features need more space, so a slice may contain fewer of them. */
const maxOf = (devices: readonly Device[]): number =>
  devices.some(
    ({ taints = [], consumesCounters = [], attributes = {} }) =>
      taints.length + consumesCounters.length > 0 || Object.values(attributes).some(isList),
  )
    ? devicesWithFeaturesMax
    : devicesMax

const isList = ({ ints, bools, strings, versions }: DeviceAttribute): boolean =>
  [ints, bools, strings, versions].some((values) => values !== undefined)

function validatePool({ name, resourceSliceCount, generation }: ResourcePool): FieldError[] {
  const path = 'spec.pool'
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${path}.name`))
  else {
    if (name.length > poolNameMax) errors.push(tooLong(`${path}.name`, poolNameMax))
    for (const part of name.split('/'))
      append(
        errors,
        dnsSubdomainErrors(part).map((detail) => invalid(`${path}.name`, part, detail)),
      )
  }
  if (resourceSliceCount <= 0)
    errors.push(invalid(`${path}.resourceSliceCount`, resourceSliceCount, 'must be greater than zero'))
  if (generation < 0) errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to zero'))
  return errors
}

function validateDevice(device: Device, path: string, isPerDevice: boolean): FieldError[] {
  const { name, attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  return [
    ...validateLabel(name, `${path}.name`),
    ...(count > attributesMax
      ? [invalid(path, count, `the total number of attributes and capacities must not exceed ${attributesMax}`)]
      : []),
    ...Object.entries(attributes).flatMap(([key, attribute]) => [
      ...validateAttributeName(key, `${path}.attributes`),
      ...validateAttribute(attribute, `${path}.attributes[${key}]`),
    ]),
    ...Object.entries(capacity).flatMap(([key, { requestPolicy }]) => [
      ...validateAttributeName(key, `${path}.capacity`),
      ...(requestPolicy !== undefined && device.allowMultipleAllocations !== true
        ? [forbidden(`${path}.capacity[${key}].requestPolicy`, 'allowMultipleAllocations must be true')]
        : []),
    ]),
    ...validateEntries(taints, `${path}.taints`, taintsMax, validateTaint),
    ...validateEntries(
      consumesCounters,
      `${path}.consumesCounters`,
      consumptionsMax,
      ({ counterSet, counters }, at) => [
        ...(counterSet === '' ? [required(`${at}.counterSet`)] : validateLabel(counterSet, `${at}.counterSet`)),
        ...validateCounters(counters, `${at}.counters`),
      ],
    ),
    ...validateUnique(
      consumesCounters.map(({ counterSet }) => counterSet),
      `${path}.consumesCounters`,
    ),
    ...validateDeviceNodes(device, path, isPerDevice),
    ...validateBindingConditions(device, path),
  ]
}

function validateAttribute(attribute: DeviceAttribute, path: string): FieldError[] {
  const { string, version, strings = [], versions = [] } = attribute
  const set = Object.values(attribute).filter((value) => value !== undefined).length
  return [
    ...[...(string === undefined ? [] : [[`${path}.string`, string] as const]), ...indexed(strings, `${path}.strings`)]
      .filter(([, value]) => value.length > attributeValueMax)
      .map(([at]) => tooLong(at, attributeValueMax)),
    ...[
      ...(version === undefined ? [] : [[`${path}.version`, version] as const]),
      ...indexed(versions, `${path}.versions`),
    ].flatMap(([at, value]) => validateVersion(value, at)),
    ...(set === 1 ? [] : [invalid(path, set === 0 ? '' : attribute, 'exactly one value must be specified')]),
  ]
}

const indexed = (values: readonly string[], path: string): (readonly [string, string])[] =>
  values.map((value, index) => [`${path}[${index}]`, value])

const validateVersion = (version: string, path: string): FieldError[] => [
  ...(semanticVersion.test(version)
    ? []
    : [invalid(path, version, 'must be a string compatible with semver.org spec 2.0.0')]),
  ...(version.length > attributeValueMax ? [tooLong(path, attributeValueMax)] : []),
]

const validateTaint = ({ key, value = '', effect }: DeviceTaint, path: string): FieldError[] => [
  ...qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail)),
  ...labelValueErrors(value).map((detail) => invalid(`${path}.value`, value, detail)),
  ...(effect ? [] : [required(`${path}.effect`)]),
]

const validateCounterSet = ({ name, counters }: CounterSet, path: string): FieldError[] => [
  ...(name === '' ? [required(`${path}.name`)] : validateLabel(name, `${path}.name`)),
  ...validateCounters(counters, `${path}.counters`),
]

function validateCounters(counters: Readonly<Record<string, Counter>> | undefined, path: string): FieldError[] {
  const names = Object.keys(counters ?? {})
  if (names.length === 0) return [required(path)]
  if (names.length > countersMax) return [tooMany(path, names.length, countersMax)]
  return names.flatMap((name) => validateLabel(name, path))
}

/** Conditions that allow the binding of a pod, and those that prevent it: both or none, and unique. */
function validateBindingConditions(device: Device, path: string): FieldError[] {
  const { bindingConditions: good = [], bindingFailureConditions: bad = [] } = device
  const goodPath = `${path}.bindingConditions`
  const badPath = `${path}.bindingFailureConditions`
  const goodNames = new Set(good)
  const validateName = (name: string, at: string) =>
    qualifiedNameErrors(name).map((detail) => invalid(at, name, detail))
  return [
    ...validateEntries(good, goodPath, bindingConditionsMax, validateName),
    ...validateEntries(bad, badPath, bindingConditionsMax, validateName),
    ...validateUnique(good, goodPath),
    ...validateUnique(bad, badPath),
    ...bad.flatMap((name, index) =>
      goodNames.has(name)
        ? [invalid(`${badPath}[${index}]`, name, 'bindingFailureConditions must not overlap with bindingConditions')]
        : [],
    ),
    ...(good.length === 0 && bad.length > 0
      ? [invalid(goodPath, undefined, 'bindingConditions are required to use bindingFailureConditions')]
      : []),
    ...(bad.length === 0 && good.length > 0
      ? [invalid(badPath, undefined, 'bindingFailureConditions are required to use bindingConditions')]
      : []),
  ]
}
