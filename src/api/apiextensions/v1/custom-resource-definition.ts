// CustomResourceDefinition: the definition of a custom resource: names, versions, schemas.
import { creationText } from '../../columns/age.ts'
import { runToEnd, type Slice, type Sliced } from '../../../base/work/work-slice.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { message, struct } from '../../../schema/descriptor/field.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import {
  customResourceDefinitionSpec,
  customResourceDefinitionStatus,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
} from './custom-resource-definition-spec.ts'
import {
  validateApproval,
  validateDefinitionSpec,
  validateDefinitionSpecUpdate,
  validateNames,
} from './definition-rules.ts'
import { formatWarnings } from './format-warnings.ts'

export const customResourceDefinitionMessage = message(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  {
    metadata: objectMetaField,
    spec: struct(2, customResourceDefinitionSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, customResourceDefinitionStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'The definition of a custom resource, which the API serves like a built-in one.',
)
export interface CustomResourceDefinition extends ObjectOf<typeof customResourceDefinitionMessage> {}
export type CustomResourceDefinitionInput = InputOf<typeof customResourceDefinitionMessage>

export const customResourceDefinition = defineKind<CustomResourceDefinition, CustomResourceDefinitionInput>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  message: customResourceDefinitionMessage,
  hasStatus: true,
  countsGenerations: true,
  updatesNeedVersion: true,
  validateName: dnsSubdomainErrors,
  validateNewName: (name, { spec }) =>
    name === `${spec.names.plural}.${spec.group}` ? [] : ['must be spec.names.plural+"."+spec.group'],
  applyDefaults: (object) => ({
    ...object,
    spec: {
      ...object.spec,
      names: withDefaultNames(object.spec.names),
      conversion: object.spec.conversion ?? { strategy: 'None' },
    },
  }),
  initialStatus: ({ spec }) => ({ storedVersions: withStorageVersion([], spec) }),
  validate: (object, old) => runToEnd((slice) => validateInSlices(object, old, slice)),
  validateInSlices,
  validatesNoStatus: true,
  warnings: formatWarnings,
  validateUpdate: (object, old) => validateDefinitionSpecUpdate(object.spec, old.spec, isEstablished(old)),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Created At', ({ metadata }) => creationText(metadata), { type: 'date' }),
  ],
  fieldLabels: {},
})

function* validateInSlices(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  slice: Slice,
): Sliced<FieldError[]> {
  return [
    ...(yield* validateDefinitionSpec(object.spec, 'spec', old?.spec, slice)),
    ...validateNames(object.status.acceptedNames, 'status.acceptedNames'),
    ...validateStoredVersions(object),
    ...validateApproval(object.spec.group, object.metadata.annotations ?? {}),
    ...validateUnknownFields(object.spec),
  ]
}

export const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True')

/** The versions in which objects may be stored, including the current storage version. */
export function withStorageVersion(stored: readonly string[], spec: CustomResourceDefinitionSpec): readonly string[] {
  const name = spec.versions?.find(({ storage }) => storage)?.name
  return name === undefined || stored.includes(name) ? stored : [...stored, name]
}

const withDefaultNames = (names: CustomResourceDefinitionNames): CustomResourceDefinitionNames => ({
  ...names,
  ...(names.kind === '' || names.singular ? {} : { singular: names.kind.toLowerCase() }),
  ...(names.kind === '' || names.listKind ? {} : { listKind: `${names.kind}List` }),
})

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = 'status.storedVersions'
  const stored = status.storedVersions ?? []
  if (stored.length === 0) return [invalid(path, null, 'must have at least one stored version')]
  const versions = spec.versions ?? []
  return [
    ...versions
      .filter(({ name, storage }) => storage && !stored.includes(name))
      .map(({ name }) => invalid(path, stored, `must have the storage version ${name}`)),
    ...stored.flatMap((name, index) =>
      versions.some((version) => version.name === name)
        ? []
        : [
            invalid(
              `${path}[${index}]`,
              name,
              `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
            ),
          ],
    ),
  ]
}

const validateUnknownFields = ({ preserveUnknownFields }: CustomResourceDefinitionSpec): FieldError[] =>
  preserveUnknownFields
    ? [
        invalid(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : []
