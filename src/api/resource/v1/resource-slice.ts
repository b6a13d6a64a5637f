// ResourceSlice: devices that a driver offers, on one or several nodes.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { resourceSliceSpec } from './resource-slice-spec.ts'
import { validateSlice } from './slice-rules.ts'

export const resourceSliceMessage = message(
  'io.k8s.api.resource.v1.ResourceSlice',
  {
    metadata: objectMetaField,
    spec: struct(2, resourceSliceSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'Devices that a driver offers.',
)
export interface ResourceSlice extends ObjectOf<typeof resourceSliceMessage> {}
export type ResourceSliceInput = InputOf<typeof resourceSliceMessage>

export const resourceSlice = defineKind<ResourceSlice, ResourceSliceInput>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  singular: 'resourceslice',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: resourceSliceMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateSlice(spec),
  validateUpdate: ({ spec }, { spec: old }) => [
    ...(spec.pool.name === old.pool.name ? [] : [immutable('spec.pool.name', spec.pool.name)]),
    ...(['driver', 'nodeName'] as const)
      .filter((field) => spec[field] !== old[field])
      .map((field) => immutable(`spec.${field}`, spec[field])),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Node', ({ spec }) => spec.nodeName ?? ''),
    column('Driver', ({ spec }) => spec.driver),
    column('Pool', ({ spec }) => spec.pool.name),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.driver': ({ spec }) => spec.driver,
  },
})
