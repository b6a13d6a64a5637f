// Endpoints: the addresses of a Service, in the form that EndpointSlices replaced.
import { list, message } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { endpointsText, validateSubset } from './endpoints-rules.ts'
import { endpointSubset } from './endpoint-subset.ts'

export const endpointsMessage = message(
  'io.k8s.api.core.v1.Endpoints',
  {
    metadata: objectMetaField,
    subsets: list(2, endpointSubset, {
      listType: 'atomic',
      description: 'Sets of addresses with the same ports.',
    }),
  },
  'The endpoints of a Service; replaced by EndpointSlice.',
)
export interface Endpoints extends ObjectOf<typeof endpointsMessage> {}
export type EndpointsInput = InputOf<typeof endpointsMessage>

export const endpoints = defineKind<Endpoints, EndpointsInput>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  categories: [],
  namespaced: true,
  message: endpointsMessage,
  hasStatus: false,
  createsOnUpdate: true,
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ subsets = [] }) => subsets.flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`)),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Endpoints', ({ subsets }) => endpointsText(subsets)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
