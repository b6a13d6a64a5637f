// IPAddress: an allocated address, which is its name, and the object that uses it.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors, pathSegmentErrors } from '../../validation/names.ts'
import { canonicalIpErrors } from '../../validation/network-rules.ts'

export const parentReference = message('io.k8s.api.networking.v1.ParentReference', {
  group: string(1, { description: 'The API group of the object.' }),
  resource: string(2, {
    required: true,
    notEmpty: true,
    omitEmpty: true,
    description: 'The resource of the object in the plural.',
  }),
  namespace: string(3, { description: 'The namespace of the object.' }),
  name: string(4, { required: true, notEmpty: true, omitEmpty: true, description: 'The name of the object.' }),
})
export interface ParentReference extends Infer<typeof parentReference> {}

export const ipAddressSpec = message('io.k8s.api.networking.v1.IPAddressSpec', {
  parentRef: struct(1, parentReference, {
    required: true,
    notEmpty: true,
    pointer: true,
    description: 'The object that uses the address.',
  }),
})
export interface IPAddressSpec extends Infer<typeof ipAddressSpec> {}

export const ipAddressMessage = message(
  'io.k8s.api.networking.v1.IPAddress',
  {
    metadata: objectMetaField,
    spec: struct(2, ipAddressSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'An allocated address and its owner; its name is the address.',
)
export interface IPAddress extends ObjectOf<typeof ipAddressMessage> {}
export type IPAddressInput = InputOf<typeof ipAddressMessage>

export const ipAddress = defineKind<IPAddress, IPAddressInput>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  categories: [],
  namespaced: false,
  message: ipAddressMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: canonicalIpErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateParent(spec.parentRef),
  validateUpdate: ({ spec }, old) =>
    equalValues(spec.parentRef, old.spec.parentRef)
      ? []
      : [immutable('spec.parentRef', spec.parentRef && shownParent(spec.parentRef))],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('ParentRef', ({ spec }) => parentText(spec.parentRef)),
  ],
  fieldLabels: {},
})

function validateParent(parent: ParentReference | undefined): FieldError[] {
  if (parent === undefined) return []
  const errors = parent.group
    ? dnsSubdomainErrors(parent.group).map((detail) => invalid('spec.parentRef.group', parent.group, detail))
    : []
  for (const field of ['resource', 'name', 'namespace'] as const)
    for (const detail of pathSegmentErrors(parent[field] ?? ''))
      errors.push(invalid(`spec.parentRef.${field}`, parent[field], detail))
  return errors
}

/** Upstream shows it in the form of its struct. */
const shownParent = ({ group = '', resource, namespace = '', name }: ParentReference): object => ({
  Group: group,
  Resource: resource,
  Namespace: namespace,
  Name: name,
})

/** `services/default/kubernetes` */
function parentText(parent: ParentReference | undefined): string {
  if (parent === undefined) return '<none>'
  const { group, resource, namespace, name } = parent
  const of = (group ? `${resource}.${group}` : resource).toLowerCase()
  return [of, ...(namespace ? [namespace] : []), name].join('/')
}
