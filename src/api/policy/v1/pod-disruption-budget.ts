// PodDisruptionBudget: how many pods of an application may be evicted at a time.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validatePodDisruptionBudget } from './pod-disruption-budget-rules.ts'
import { podDisruptionBudgetSpec, podDisruptionBudgetStatus } from './pod-disruption-budget-spec.ts'
import { validateCounts, validateStatusConditions } from '../../validation/status-rules.ts'

export const podDisruptionBudgetMessage = message(
  'io.k8s.api.policy.v1.PodDisruptionBudget',
  {
    metadata: objectMetaField,
    spec: struct(2, podDisruptionBudgetSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, podDisruptionBudgetStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Limits how many pods of an application are voluntarily disrupted at a time.',
)
export interface PodDisruptionBudget extends ObjectOf<typeof podDisruptionBudgetMessage> {}
export type PodDisruptionBudgetInput = InputOf<typeof podDisruptionBudgetMessage>

export const podDisruptionBudget = defineKind<PodDisruptionBudget, PodDisruptionBudgetInput>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  categories: [],
  namespaced: true,
  message: podDisruptionBudgetMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  initialStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  validate: ({ spec }) => validatePodDisruptionBudget(spec),
  validateUpdate: () => [],
  validateStatusUpdate: ({ status }) => [
    ...validateStatusConditions(status.conditions ?? [], 'status.conditions'),
    ...validateCounts(status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Min Available', ({ spec }) => String(spec.minAvailable ?? 'N/A')),
    column('Max Unavailable', ({ spec }) => String(spec.maxUnavailable ?? 'N/A')),
    column('Allowed Disruptions', ({ status }) => status.disruptionsAllowed ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
