// EndpointSlice: some of the endpoints of a Service.
import { list, message, string } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateEndpointSlice } from './endpoint-slice-rules.ts'
import { endpoint, endpointPort } from './endpoint.ts'

export const endpointSliceMessage = message(
  'io.k8s.api.discovery.v1.EndpointSlice',
  {
    metadata: objectMetaField,
    endpoints: list(2, endpoint, {
      listType: 'atomic',
      keepEmpty: true,
      description: 'The addresses and their state.',
    }),
    ports: list(3, endpointPort, {
      listType: 'atomic',
      keepEmpty: true,
      description: 'The ports of all addresses.',
    }),
    addressType: string(4, {
      required: true,
      notEmpty: true,
      enum: ['FQDN', 'IPv4', 'IPv6'],
      description: 'The type of the addresses: IPv4, IPv6 or FQDN.',
    }),
  },
  'A subset of the endpoints of a Service.',
)
export interface EndpointSlice extends ObjectOf<typeof endpointSliceMessage> {}
export type EndpointSliceInput = InputOf<typeof endpointSliceMessage>

export const endpointSlice = defineKind<EndpointSlice, EndpointSliceInput>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: endpointSliceMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: validateEndpointSlice,
  validateUpdate: (object, old) =>
    object.addressType === old.addressType ? [] : [immutable('addressType', object.addressType)],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('AddressType', ({ addressType }) => addressType),
    column('Ports', ({ ports }) => listText((ports ?? []).map(({ port, name }) => String(port ?? (name || '*'))))),
    column('Endpoints', ({ endpoints }) => listText((endpoints ?? []).flatMap(({ addresses }) => addresses))),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const shownMax = 3

function listText(items: readonly string[]): string {
  if (items.length === 0) return '<unset>'
  const more = items.length - shownMax
  return `${items.slice(0, shownMax).join(',')}${more > 0 ? ` + ${more} more...` : ''}`
}
