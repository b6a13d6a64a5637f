// LimitRange: bounds and defaults for what each pod, container or claim of a namespace may use.
import { creationText } from '../../../columns/age.ts'
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { validateLimits, withLimitDefaults } from './limit-range-rules.ts'
import { limitRangeSpec } from './limit-range-spec.ts'

export const limitRangeMessage = message(
  'io.k8s.api.core.v1.LimitRange',
  {
    metadata: objectMetaField,
    spec: struct(2, limitRangeSpec, { description: 'The wanted state of the object.' }),
  },
  'Minimum, maximum and default amounts of resources of objects in a namespace.',
)
export interface LimitRange extends ObjectOf<typeof limitRangeMessage> {}
export type LimitRangeInput = InputOf<typeof limitRangeMessage>

export const limitRange = defineKind<LimitRange, LimitRangeInput>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  categories: [],
  namespaced: true,
  message: limitRangeMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withLimitDefaults(object.spec) }),
  validate: ({ spec }) => validateLimits(spec.limits ?? [], 'spec.limits'),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Created At', ({ metadata }) => creationText(metadata), { type: 'date' }),
  ],
  fieldLabels: {},
})
