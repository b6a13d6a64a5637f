// CSINode: the storage drivers on a node.
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { duplicate, immutable, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues, without } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { validateDriverName } from '../../validation/driver-name-rules.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../validation/names.ts'

export const volumeNodeResources = message('io.k8s.api.storage.v1.VolumeNodeResources', {
  count: int32(1, {
    pointer: true,
    minimum: 0,
    description: 'How many volumes of the driver the node can use; unlimited without it.',
  }),
})
export interface VolumeNodeResources extends Infer<typeof volumeNodeResources> {}

export const csiNodeDriver = message('io.k8s.api.storage.v1.CSINodeDriver', {
  name: string(1, { required: true, description: 'The name of the driver.' }),
  nodeID: string(2, { required: true, description: 'The name of the node in the driver.' }),
  topologyKeys: list(3, 'string', {
    keepEmpty: true,
    listType: 'atomic',
    description: 'The labels with which the driver describes where a volume can be reached.',
  }),
  allocatable: struct(4, volumeNodeResources, {
    pointer: true,
    description: 'How much the driver can serve on the node.',
  }),
})
export interface CSINodeDriver extends Infer<typeof csiNodeDriver> {}

export const csiNodeSpec = message('io.k8s.api.storage.v1.CSINodeSpec', {
  drivers: list(1, csiNodeDriver, {
    required: true,
    keepEmpty: true,
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: "The drivers, with the driver's id of the node and the number of allocatable volumes.",
  }),
})
export interface CSINodeSpec extends Infer<typeof csiNodeSpec> {}

export const csiNodeMessage = message(
  'io.k8s.api.storage.v1.CSINode',
  {
    metadata: objectMetaField,
    spec: struct(2, csiNodeSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'The storage drivers on a node.',
)
export interface CSINode extends ObjectOf<typeof csiNodeMessage> {}
export type CSINodeInput = InputOf<typeof csiNodeMessage>

export const csiNode = defineKind<CSINode, CSINodeInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  singular: 'csinode',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: csiNodeMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateCsiNodeDrivers(spec.drivers ?? []),
  validateUpdate: (object, old) => validateCsiNodeUpdate(object.spec.drivers ?? [], old.spec.drivers ?? []),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Drivers', ({ spec }) => spec.drivers?.length ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const nodeIdMax = 256

function validateCsiNodeDrivers(drivers: readonly CSINodeDriver[]): FieldError[] {
  const names = new Set<string>()
  return drivers.flatMap((driver, index) => {
    const { name, nodeID, topologyKeys } = driver
    const path = `spec.drivers[${index}]`
    const errors = validateDriverName(name, `${path}.name`)
    if (!nodeID) errors.push(required(`${path}.nodeID`))
    else if (nodeID.length > nodeIdMax)
      errors.push(invalid(`${path}.nodeID`, nodeID, `must be ${nodeIdMax} characters or less`))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
    return [...errors, ...validateTopologyKeys(topologyKeys ?? [], path)]
  })
}

function validateTopologyKeys(keys: readonly string[], path: string): FieldError[] {
  const repeated = areRepeated(keys)
  return keys.flatMap((key, index) => [
    ...(key === '' ? [required(path)] : []),
    ...(repeated[index] ? [duplicate(path, key)] : []),
    ...qualifiedNameErrors(key).map((detail) => invalid(path, key, detail)),
  ])
}

/** The number of allocatable volumes may change; the driver's name of the node may not. */
function validateCsiNodeUpdate(drivers: readonly CSINodeDriver[], oldDrivers: readonly CSINodeDriver[]): FieldError[] {
  // Names in the stored object are unique.
  const before = new Map(oldDrivers.map((driver) => [driver.name, driver]))
  return drivers.flatMap((driver) => {
    const old = before.get(driver.name)
    const fixed = without(driver, 'allocatable')
    return old === undefined || equalValues(fixed, without(old, 'allocatable'))
      ? []
      : [immutable('spec.drivers', fixed)]
  })
}
