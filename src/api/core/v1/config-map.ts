// ConfigMap: configuration data for pods to read.
import { bool, map, message } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, invalid, tooLong, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { configKeyErrors } from '../../validation/config-key.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const configMapMessage = message(
  'io.k8s.api.core.v1.ConfigMap',
  {
    metadata: objectMetaField,
    data: map(2, 'string', { description: 'Values as text, by name.' }),
    binaryData: map(3, 'bytes', { description: 'Binary values in base64, by name; names must not also be in data.' }),
    immutable: bool(4, {
      pointer: true,
      description: 'Once true, the values cannot change.',
    }),
  },
  'Configuration data that is not confidential, as key-value pairs.',
)
export interface ConfigMap extends ObjectOf<typeof configMapMessage> {}
export type ConfigMapInput = InputOf<typeof configMapMessage>

const dataBytesMax = 1 << 20

export const configMap = defineKind<ConfigMap, ConfigMapInput>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  message: configMapMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate({ data = {}, binaryData = {} }) {
    const errors: FieldError[] = []
    let size = 0
    const check = (path: string, values: Readonly<Record<string, string>>) => {
      for (const name in values) {
        size += values[name]?.length ?? 0
        for (const detail of configKeyErrors(name)) errors.push(invalid(`${path}[${name}]`, name, detail))
      }
    }
    check('data', data)
    check('binaryData', binaryData)
    for (const name in binaryData)
      if (Object.hasOwn(data, name))
        errors.push(invalid(`data[${name}]`, name, 'duplicate of key present in binaryData'))
    if (size > dataBytesMax) errors.push(tooLong('', dataBytesMax))
    return errors
  },
  validateUpdate(object, old) {
    if (old.immutable !== true) return []
    const errors: FieldError[] = []
    if (object.immutable !== true) errors.push(forbidden('immutable', 'field is immutable when `immutable` is set'))
    for (const field of ['data', 'binaryData'] as const)
      if (!equalValues(object[field], old[field]))
        errors.push(forbidden(field, 'field is immutable when `immutable` is set'))
    return errors
  },
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Data', ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
