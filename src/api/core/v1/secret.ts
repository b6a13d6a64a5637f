// Secret: confidential data for pods; its type determines the required keys.
import { bool, map, message, string } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateSecret, validateSecretUpdate, encodedStrings } from './secret-rules.ts'

export const secretMessage = message(
  'io.k8s.api.core.v1.Secret',
  {
    metadata: objectMetaField,
    data: map(2, 'bytes', { description: 'The values in base64, by name.' }),
    type: string(3, {
      default: 'Opaque',
      description: 'The type of the secret, Opaque by default; some types require certain keys.',
    }),
    stringData: map(4, 'string', { description: 'Values as text, which are written to data and never returned.' }),
    immutable: bool(5, {
      pointer: true,
      description: 'Once true, the values cannot change.',
    }),
  },
  'Confidential data such as passwords and keys.',
)
export interface Secret extends ObjectOf<typeof secretMessage> {}
export type SecretInput = InputOf<typeof secretMessage>

export const secret = defineKind<Secret, SecretInput>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: secretMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  // stringData is write-only: it becomes data and is never returned.
  applyDefaults: ({ stringData, ...object }) =>
    stringData === undefined ? object : { ...object, data: { ...object.data, ...encodedStrings(stringData) } },
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Type', ({ type }) => type),
    column('Data', ({ data = {} }) => Object.keys(data).length),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: { type: ({ type }) => type },
})
