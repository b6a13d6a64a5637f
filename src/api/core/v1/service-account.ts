// ServiceAccount: the identity of a pod when it calls the API.
import { bool, list, message } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { tokenRequest } from '../../authentication/v1/token-request.ts'
import { localObjectReference, objectReference } from './references.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const serviceAccountMessage = message(
  'io.k8s.api.core.v1.ServiceAccount',
  {
    metadata: objectMetaField,
    secrets: list(2, objectReference, {
      listType: 'map',
      keys: ['name'],
      patch: 'merge',
      mergeKey: 'name',
      description: 'Secrets that pods of this account may use.',
    }),
    imagePullSecrets: list(3, localObjectReference, {
      listType: 'atomic',
      description: 'Secrets with which pods of this account pull images.',
    }),
    automountServiceAccountToken: bool(4, {
      pointer: true,
      description: 'Whether pods of this account get a token for the API.',
    }),
  },
  'An identity for programs that run in pods.',
)
export interface ServiceAccount extends ObjectOf<typeof serviceAccountMessage> {}
export type ServiceAccountInput = InputOf<typeof serviceAccountMessage>

export const serviceAccount = defineKind<ServiceAccount, ServiceAccountInput>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  categories: [],
  namespaced: true,
  message: serviceAccountMessage,
  subresources: [
    {
      name: 'token',
      verbs: ['create'],
      response: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      body: tokenRequest,
    },
  ],
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
