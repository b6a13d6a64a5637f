// FlowSchema: assigns requests to a priority level, and distinguishes flows within it.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateFlowSchema } from './flow-schema-rules.ts'
import { flowSchemaSpec, flowSchemaStatus } from './flow-schema-spec.ts'

export const flowSchemaMessage = message(
  'io.k8s.api.flowcontrol.v1.FlowSchema',
  {
    metadata: objectMetaField,
    spec: struct(2, flowSchemaSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, flowSchemaStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Assigns API requests to priority levels.',
)
export interface FlowSchema extends ObjectOf<typeof flowSchemaMessage> {}
export type FlowSchemaInput = InputOf<typeof flowSchemaMessage>

// Go clients send zero for an unset value.
const matchingPrecedenceDefault = 1000

export const flowSchema = defineKind<FlowSchema, FlowSchemaInput>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  singular: 'flowschema',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: flowSchemaMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) =>
    object.spec.matchingPrecedence === 0
      ? { ...object, spec: { ...object.spec, matchingPrecedence: matchingPrecedenceDefault } }
      : object,
  validate: ({ metadata, spec, status }) => validateFlowSchema(metadata.name, spec, status),
  validateUpdate: () => [],
  /** In the order in which requests are matched: the lowest precedence first. */
  compareRows: (a, b) => (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('PriorityLevel', ({ spec }) => spec.priorityLevelConfiguration.name),
    column('MatchingPrecedence', ({ spec }) => spec.matchingPrecedence),
    column('DistinguisherMethod', ({ spec }) => spec.distinguisherMethod?.type ?? '<none>'),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('MissingPL', ({ status }) => status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'),
  ],
  fieldLabels: {},
})
