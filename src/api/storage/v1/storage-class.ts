// StorageClass: a class of dynamically provisioned volumes that claims refer to.
import { lookup } from '../../../base/collections/lookup.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, list, map, message, string } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import {
  duplicate,
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { equalValues, identityOf, type JsonObject } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../validation/names.ts'
import { validateParameters, validateProvisioner } from './class-rules.ts'

export const topologySelectorLabelRequirement = message('io.k8s.api.core.v1.TopologySelectorLabelRequirement', {
  key: string(1, { required: true, description: 'The label.' }),
  values: list(2, 'string', { required: true, listType: 'atomic', description: 'Its values; one of them must match.' }),
})
export interface TopologySelectorLabelRequirement extends Infer<typeof topologySelectorLabelRequirement> {}

export const topologySelectorTerm = atomicMessage('io.k8s.api.core.v1.TopologySelectorTerm', {
  matchLabelExpressions: list(1, topologySelectorLabelRequirement, {
    listType: 'atomic',
    description: 'Conditions on labels of nodes. All of them must be met.',
  }),
})
export interface TopologySelectorTerm extends Infer<typeof topologySelectorTerm> {}

export const storageClassMessage = message(
  'io.k8s.api.storage.v1.StorageClass',
  {
    metadata: objectMetaField,
    provisioner: string(2, { required: true, description: 'The provisioner of the volumes.' }),
    parameters: map(3, 'string', { description: 'Parameters of the provisioner.' }),
    reclaimPolicy: string(4, {
      pointer: true,
      default: 'Delete',
      enum: ['Delete', 'Recycle', 'Retain'],
      enumUnchecked: true,
      description: 'What happens to a volume when its claim is deleted: Delete (the default) or Retain.',
    }),
    mountOptions: list(5, 'string', {
      listType: 'atomic',
      description: 'Mount options, which are not validated.',
    }),
    allowVolumeExpansion: bool(6, { pointer: true, description: 'Whether volumes can be expanded.' }),
    volumeBindingMode: string(7, {
      pointer: true,
      default: 'Immediate',
      enum: ['Immediate', 'WaitForFirstConsumer'],
      description:
        'Immediate (the default): a volume is provisioned at once; WaitForFirstConsumer: when the first pod uses it.',
    }),
    allowedTopologies: list(8, topologySelectorTerm, {
      listType: 'atomic',
      description: 'The topologies in which volumes may be provisioned.',
    }),
  },
  'A class of storage that claims can request by name.',
)
export interface StorageClass extends ObjectOf<typeof storageClassMessage> {}
export type StorageClassInput = InputOf<typeof storageClassMessage>

// The published enumeration also has Recycle, which is not valid for a class.
const reclaimPolicies = ['Delete', 'Retain']

export const storageClass = defineKind<StorageClass, StorageClassInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  categories: [],
  namespaced: false,
  message: storageClassMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ provisioner, parameters = {}, reclaimPolicy, allowedTopologies = [] }) => [
    ...validateProvisioner(provisioner, 'provisioner'),
    ...validateParameters(parameters, 'parameters'),
    ...(reclaimPolicy !== '' && !reclaimPolicies.includes(reclaimPolicy)
      ? [notSupported('reclaimPolicy', reclaimPolicy, reclaimPolicies)]
      : []),
    ...validateTopologies(allowedTopologies),
  ],
  validateUpdate(object, old) {
    const errors: FieldError[] = []
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy'] as const)
      if (!equalValues(object[field], old[field])) errors.push(forbidden(field, `updates to ${field} are forbidden.`))
    if (object.volumeBindingMode !== old.volumeBindingMode)
      errors.push(immutable('volumeBindingMode', object.volumeBindingMode))
    return errors
  },
  columns: [
    column('Name', nameText, { format: 'name' }),
    column('Provisioner', ({ provisioner }) => provisioner),
    column('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    column('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    column('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

export const isDefaultClass = ({ metadata: { annotations = {} } }: StorageClass): boolean =>
  ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'].some(
    (name) => lookup(annotations, name) === 'true',
  )

function nameText(object: StorageClass): string {
  return isDefaultClass(object) ? `${object.metadata.name} (default)` : object.metadata.name
}

function validateTopologies(terms: readonly TopologySelectorTerm[]): FieldError[] {
  // A term without requirements counts as a duplicate, even if it is the first.
  const repeated = areRepeated([{}, ...terms], (term) => identityOf(valuesByKey(term)))
  return terms.flatMap((term, index) => {
    const path = `allowedTopologies[${index}].matchLabelExpressions`
    return [...validateTerm(term, path), ...(repeated[index + 1] ? [duplicate(path, '')] : [])]
  })
}

function validateTerm({ matchLabelExpressions = [] }: TopologySelectorTerm, path: string): FieldError[] {
  const repeated = areRepeated(matchLabelExpressions, ({ key }) => key)
  return matchLabelExpressions.flatMap((requirement, index) => [
    ...validateRequirement(requirement, `${path}[${index}]`),
    ...(repeated[index] ? [duplicate(`${path}[${index}].key`, requirement.key)] : []),
  ])
}

function validateRequirement(
  { key = '', values = [] }: Partial<TopologySelectorLabelRequirement>,
  path: string,
): FieldError[] {
  const errors = values.length === 0 ? [required(`${path}.values`)] : []
  const repeated = areRepeated(values)
  for (const [index, value] of values.entries())
    if (repeated[index]) errors.push(duplicate(`${path}.values[${index}]`, value))
  return [...errors, ...qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail))]
}

/** A canonical form of a term that does not depend on the order of its requirements. */
const valuesByKey = ({ matchLabelExpressions = [] }: TopologySelectorTerm): JsonObject =>
  Object.fromEntries(matchLabelExpressions.map(({ key, values }) => [key, [...new Set(values)].toSorted()]))
