// Job: pods that run until enough of them have succeeded.
import { ownerWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { isBeingDeleted, type InputOf, type ObjectOf } from '../../meta/object.ts'
import { jobSpec } from './job-spec.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { containerImages, containerNames } from '../../core/v1/pod-spec/template-owner-rules.ts'
import { ageText, humanDuration } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { withJobDefaults } from './job-defaults.ts'
import { validateJob } from './job-rules.ts'
import { validateJobUpdate } from './job-update-rules.ts'
import { validateJobStatusUpdate } from './job-status-rules.ts'

export const jobCondition = message('io.k8s.api.batch.v1.JobCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastProbeTime: time(3, { description: 'When the condition was checked last.' }),
  lastTransitionTime: time(4, { description: 'When the status changed last.' }),
  reason: string(5, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { description: 'A sentence for people about the last transition.' }),
})
export interface JobCondition extends Infer<typeof jobCondition> {}

export const uncountedTerminatedPods = message('io.k8s.api.batch.v1.UncountedTerminatedPods', {
  succeeded: list(1, 'string', {
    listType: 'set',
    description: 'The uids of pods that have succeeded and are not counted yet.',
  }),
  failed: list(2, 'string', {
    listType: 'set',
    description: 'The uids of pods that have failed and are not counted yet.',
  }),
})
export interface UncountedTerminatedPods extends Infer<typeof uncountedTerminatedPods> {}

export const jobStatus = message('io.k8s.api.batch.v1.JobStatus', {
  conditions: list(1, jobCondition, {
    listType: 'atomic',
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether the Job is complete, failed or suspended.',
  }),
  startTime: time(2, { pointer: true, description: 'When it was started.' }),
  completionTime: time(3, { pointer: true, description: 'When it was completed.' }),
  active: int32(4, { description: 'How many pods are pending or running.' }),
  succeeded: int32(5, { description: 'How many pods succeeded.' }),
  failed: int32(6, { description: 'How many pods failed.' }),
  completedIndexes: string(7, { description: 'The indexes that succeeded, as numbers and ranges.' }),
  uncountedTerminatedPods: struct(8, uncountedTerminatedPods, {
    pointer: true,
    description: 'Terminated pods that are not counted yet.',
  }),
  ready: int32(9, { pointer: true, description: 'How many pods are ready.' }),
  failedIndexes: string(10, { pointer: true, description: 'The indexes that failed, as numbers and ranges.' }),
  terminating: int32(11, { pointer: true, description: 'How many pods are terminating.' }),
})
export interface JobStatus extends Infer<typeof jobStatus> {}

export const jobMessage = message(
  'io.k8s.api.batch.v1.Job',
  {
    metadata: objectMetaField,
    spec: struct(2, jobSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, jobStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Runs pods until enough of them have succeeded.',
)
export interface Job extends ObjectOf<typeof jobMessage> {}
export type JobInput = InputOf<typeof jobMessage>

export const job = defineKind<Job, JobInput>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  shortNames: [],
  categories: ['all'],
  namespaced: true,
  message: jobMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: withJobDefaults,
  validate: validateJob,
  validatesNoStatus: true,
  validateUpdate: ({ spec }, old) => validateJobUpdate(spec, old.spec, old.status),
  warnings: ownerWarnings,
  validateStatusUpdate: validateJobStatusUpdate,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Status', statusText),
    column('Completions', completionsText),
    column('Duration', durationText),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
    column('Selector', ({ spec }) => selectorText(spec.selector) || '<none>', { priority: 1 }),
  ],
  fieldLabels: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
})

export const hasJobCondition = ({ status }: Job, type: string): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

function statusText(object: Job): string {
  if (hasJobCondition(object, 'Complete')) return 'Complete'
  if (hasJobCondition(object, 'Failed')) return 'Failed'
  if (isBeingDeleted(object)) return 'Terminating'
  const passing = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']
  return passing.find((type) => hasJobCondition(object, type)) ?? 'Running'
}

function completionsText({ spec: { completions, parallelism = 1 }, status: { succeeded = 0 } }: Job): string {
  if (completions !== undefined) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationText({ status: { startTime, completionTime } }: Job, nowMs: number): string {
  if (startTime === undefined) return ''
  return humanDuration((completionTime === undefined ? nowMs : Date.parse(completionTime)) - Date.parse(startTime))
}
