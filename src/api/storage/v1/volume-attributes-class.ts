// VolumeAttributesClass: mutable attributes of volumes that a driver supports.
import { map, message, string } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, required } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateParameters, validateProvisioner } from './class-rules.ts'

export const volumeAttributesClassMessage = message(
  'io.k8s.api.storage.v1.VolumeAttributesClass',
  {
    metadata: objectMetaField,
    driverName: string(2, { required: true, description: 'The driver of the parameters.' }),
    parameters: map(3, 'string', { description: 'The attributes, as parameters of the driver.' }),
  },
  'Attributes of volumes that can change while they are in use.',
)
export interface VolumeAttributesClass extends ObjectOf<typeof volumeAttributesClassMessage> {}
export type VolumeAttributesClassInput = InputOf<typeof volumeAttributesClassMessage>

/** Prevents the deletion of a class while a volume or a claim refers to it. */
export const attributesClassFinalizer = 'kubernetes.io/vac-protection'

export const volumeAttributesClass = defineKind<VolumeAttributesClass, VolumeAttributesClassInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  categories: [],
  namespaced: false,
  message: volumeAttributesClassMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ driverName, parameters = {} }) => [
    ...validateProvisioner(driverName, 'driverName'),
    ...validateParameters(parameters, 'parameters'),
    ...(Object.keys(parameters).length === 0
      ? [required('parameters', 'must contain at least one key/value pair')]
      : []),
  ],
  validateUpdate: (object, old) =>
    (['driverName', 'parameters'] as const)
      .filter((field) => !equalValues(object[field], old[field]))
      .map((field) => forbidden(field, `updates to ${field} are forbidden.`)),
  columns: [
    column('Name', nameText, { format: 'name' }),
    column('DriverName', ({ driverName }) => driverName),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const defaultAnnotation = 'volumeattributesclass.alpha.kubernetes.io/is-default-class'

function nameText({ metadata: { name, annotations = {} } }: VolumeAttributesClass): string {
  return annotations[defaultAnnotation] === 'true' ? `${name} (default)` : name
}
