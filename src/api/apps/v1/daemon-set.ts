// DaemonSet: one pod on each matching node.
import { templateWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateDaemonSet, withDaemonSetDefaults, withTemplateGeneration } from './daemon-set-rules.ts'
import { containerImages, containerNames } from '../../core/v1/pod-spec/template-owner-rules.ts'
import { daemonSetSpec, daemonSetStatus } from './daemon-set-spec.ts'
import { validateCollisions, validateCounts } from '../../validation/status-rules.ts'

export const daemonSetMessage = message(
  'io.k8s.api.apps.v1.DaemonSet',
  {
    metadata: objectMetaField,
    spec: struct(2, daemonSetSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, daemonSetStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Runs one pod on every node, or on every selected node.',
)
export interface DaemonSet extends ObjectOf<typeof daemonSetMessage> {}
export type DaemonSetInput = InputOf<typeof daemonSetMessage>

export const daemonSet = defineKind<DaemonSet, DaemonSetInput>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  message: daemonSetMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({
    ...object,
    metadata: withTemplateGeneration(object.metadata),
    spec: withDaemonSetDefaults(object.spec),
  }),
  initialStatus: () => ({
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  }),
  validate: ({ spec }) => validateDaemonSet(spec),
  validatesNoStatus: true,
  validateUpdate: (object, old) =>
    equalValues(object.spec.selector, old.spec.selector) ? [] : [immutable('spec.selector', object.spec.selector)],
  warnings: templateWarnings,
  validateStatusUpdate: ({ status }, old) => [
    ...validateCounts(status, [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]),
    ...validateCollisions(status, old.status),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Desired', ({ status }) => status.desiredNumberScheduled ?? 0, { type: 'integer' }),
    column('Current', ({ status }) => status.currentNumberScheduled ?? 0, { type: 'integer' }),
    column('Ready', ({ status }) => status.numberReady ?? 0, { type: 'integer' }),
    column('Up-to-date', ({ status }) => status.updatedNumberScheduled ?? 0, { type: 'integer' }),
    column('Available', ({ status }) => status.numberAvailable ?? 0, { type: 'integer' }),
    column(
      'Node Selector',
      ({ spec }) => selectorText({ matchLabels: spec.template.spec.nodeSelector ?? {} }) || '<none>',
    ),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
    column('Selector', ({ spec }) => selectorText(spec.selector) || '<none>', { priority: 1 }),
  ],
  fieldLabels: {},
})
