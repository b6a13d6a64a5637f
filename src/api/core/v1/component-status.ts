// ComponentStatus: the health of the API server's dependencies. Computed on request, never stored.
import { lookup } from '../../../base/collections/lookup.ts'
import { list, message, string } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'

export const componentCondition = message('io.k8s.api.core.v1.ComponentCondition', {
  type: string(1, { required: true, description: 'The condition: Healthy.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  message: string(3, { description: 'The result of the check.' }),
  error: string(4, { description: 'Why the check failed.' }),
})
export interface ComponentCondition extends Infer<typeof componentCondition> {}

export const componentStatusMessage = message(
  'io.k8s.api.core.v1.ComponentStatus',
  {
    metadata: objectMetaField,
    conditions: list(2, componentCondition, {
      listType: 'map',
      keys: ['type'],
      patch: 'merge',
      mergeKey: 'type',
      description: 'The result of the health check.',
    }),
  },
  'The health of a component that the API server depends on. Deprecated: query the component itself.',
)
export interface ComponentStatus extends ObjectOf<typeof componentStatusMessage> {}
export type ComponentStatusInput = InputOf<typeof componentStatusMessage>

const healthOf = ({ conditions = [] }: ComponentStatus): ComponentCondition | undefined =>
  conditions.find(({ type }) => type === 'Healthy')

const statusTexts: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' }

export const componentStatus = defineKind<ComponentStatus, ComponentStatusInput>({
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  categories: [],
  namespaced: false,
  computed: ['get', 'list'],
  message: componentStatusMessage,
  deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Status', (object) => lookup(statusTexts, healthOf(object)?.status ?? '') ?? 'Unknown'),
    column('Message', (object) => healthOf(object)?.message ?? ''),
    column('Error', (object) => healthOf(object)?.error ?? ''),
  ],
  fieldLabels: {},
})
