// Namespace: a scope for names.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsLabelErrors } from '../../validation/names.ts'

export const namespaceCondition = message('io.k8s.api.core.v1.NamespaceCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(4, { description: 'When the status changed last.' }),
  reason: string(5, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { description: 'A sentence for people about the last transition.' }),
})
export interface NamespaceCondition extends Infer<typeof namespaceCondition> {}

export const namespaceSpec = message('io.k8s.api.core.v1.NamespaceSpec', {
  finalizers: list(1, 'string', {
    listType: 'atomic',
    description:
      'Finalizers to be removed before the namespace is deleted; kubernetes, the default, is for deleting its content.',
  }),
})
export interface NamespaceSpec extends Infer<typeof namespaceSpec> {}

export const namespaceStatus = message('io.k8s.api.core.v1.NamespaceStatus', {
  phase: string(1, {
    default: 'Active',
    enum: ['Active', 'Terminating'],
    description: 'Active, or Terminating while its content is being deleted.',
  }),
  conditions: list(2, namespaceCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Conditions that block the deletion.',
  }),
})
export interface NamespaceStatus extends Infer<typeof namespaceStatus> {}

export const namespaceMessage = message(
  'io.k8s.api.core.v1.Namespace',
  {
    metadata: objectMetaField,
    spec: struct(2, namespaceSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, namespaceStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'A scope for names of objects, permissions and quotas.',
)
export interface Namespace extends ObjectOf<typeof namespaceMessage> {}
export type NamespaceInput = InputOf<typeof namespaceMessage>

/** The label by which selectors can select a namespace by name. */
const nameLabel = 'kubernetes.io/metadata.name'

export const namespace = defineKind<Namespace, NamespaceInput>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  namespaced: false,
  message: namespaceMessage,
  subresources: [{ name: 'finalize', verbs: ['update'] }],
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsLabelErrors,
  applyDefaults: (object) =>
    object.metadata.name === undefined || object.metadata.labels?.[nameLabel] === object.metadata.name
      ? object
      : {
          ...object,
          metadata: { ...object.metadata, labels: { ...object.metadata.labels, [nameLabel]: object.metadata.name } },
        },
  initialStatus: () => ({ phase: 'Active' }),
  validate: () => [],
  validateUpdate: () => [],
  validateStatusUpdate: validatePhase,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Status', ({ status }) => status.phase),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: { 'status.phase': ({ status }) => status.phase },
})

/** The phase must be Terminating if and only if the namespace has a deletion timestamp. */
function validatePhase({ metadata, status: { phase } }: Namespace): FieldError[] {
  const isMarked = metadata.deletionTimestamp !== undefined
  if (phase === (isMarked ? 'Terminating' : 'Active')) return []
  const rule = isMarked
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [invalid('status.Phase', phase, rule)]
}
