// JobSpec: the spec of a Job; CronJobs have it in a template.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const podFailurePolicyOnExitCodesRequirement = message(
  'io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement',
  {
    containerName: string(1, { pointer: true, description: 'The container; all of them without it.' }),
    operator: string(2, { required: true, enum: ['In', 'NotIn'], description: 'In or NotIn.' }),
    values: list(3, 'int32', { required: true, listType: 'set', description: 'The exit codes, at most 255 of them.' }),
  },
)
export interface PodFailurePolicyOnExitCodesRequirement extends Infer<typeof podFailurePolicyOnExitCodesRequirement> {}

export const podFailurePolicyOnPodConditionsPattern = message(
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern',
  {
    type: string(1, { required: true, description: 'The name of the condition.' }),
    status: string(2, { keepEmpty: true, description: 'Its status; True by default.' }),
  },
)
export interface PodFailurePolicyOnPodConditionsPattern extends Infer<typeof podFailurePolicyOnPodConditionsPattern> {}

export const podFailurePolicyRule = message('io.k8s.api.batch.v1.PodFailurePolicyRule', {
  action: string(1, {
    required: true,
    enum: ['Count', 'FailIndex', 'FailJob', 'Ignore'],
    description: 'FailJob, FailIndex, Ignore (it does not count) or Count (the default handling).',
  }),
  onExitCodes: struct(2, podFailurePolicyOnExitCodesRequirement, {
    pointer: true,
    description: 'The exit codes that match.',
  }),
  onPodConditions: list(3, podFailurePolicyOnPodConditionsPattern, {
    listType: 'atomic',
    description: 'The conditions of the pod that match; one of them suffices.',
  }),
})
export interface PodFailurePolicyRule extends Infer<typeof podFailurePolicyRule> {}

export const podFailurePolicy = message('io.k8s.api.batch.v1.PodFailurePolicy', {
  rules: list(1, podFailurePolicyRule, {
    required: true,
    listType: 'atomic',
    description: 'The rules, in order; the first one that matches applies. At most 20.',
  }),
})
export interface PodFailurePolicy extends Infer<typeof podFailurePolicy> {}

export const successPolicyRule = message('io.k8s.api.batch.v1.SuccessPolicyRule', {
  succeededIndexes: string(1, {
    pointer: true,
    description: 'The indexes that must succeed, such as 0,2-4; all without it.',
  }),
  succeededCount: int32(2, {
    pointer: true,
    minimum: 0,
    description: 'How many of the indexes must succeed; all without it.',
  }),
})
export interface SuccessPolicyRule extends Infer<typeof successPolicyRule> {}

export const successPolicy = message('io.k8s.api.batch.v1.SuccessPolicy', {
  rules: list(1, successPolicyRule, {
    required: true,
    listType: 'atomic',
    description: 'The rules, in order; the Job succeeds when one is met. At most 20.',
  }),
})
export interface SuccessPolicy extends Infer<typeof successPolicy> {}

export const jobSpec = message('io.k8s.api.batch.v1.JobSpec', {
  parallelism: int32(1, { pointer: true, minimum: 0, description: 'How many pods may run at once; 1 by default.' }),
  completions: int32(2, {
    pointer: true,
    minimum: 0,
    description: 'How many pods must succeed; 1 by default. With parallelism alone, the success of any pod is enough.',
  }),
  activeDeadlineSeconds: int64(3, {
    pointer: true,
    minimum: 0,
    description: 'After how many seconds the Job is terminated as failed; never by default.',
  }),
  selector: struct(4, labelSelector, { pointer: true, description: 'Selects the pods; normally generated.' }),
  manualSelector: bool(5, {
    pointer: true,
    description: 'Whether the selector is specified manually; it must not match pods of others.',
  }),
  template: struct(6, podTemplateSpec, { required: true, description: 'The template of the pods.' }),
  backoffLimit: int32(7, {
    pointer: true,
    minimum: 0,
    description:
      'How many failures are allowed before the Job fails; 6 by default, and any number with backoffLimitPerIndex.',
  }),
  ttlSecondsAfterFinished: int32(8, {
    pointer: true,
    minimum: 0,
    description: 'How long the Job is retained after it finished.',
  }),
  completionMode: string(9, {
    pointer: true,
    enum: ['NonIndexed', 'Indexed'],
    description: 'NonIndexed (the default): completions are interchangeable; Indexed: each has a number.',
  }),
  suspend: bool(10, { pointer: true, description: 'Whether the Job is suspended.' }),
  podFailurePolicy: struct(11, podFailurePolicy, {
    pointer: true,
    description: 'How pod failures are handled, by exit codes and conditions.',
  }),
  backoffLimitPerIndex: int32(12, {
    pointer: true,
    minimum: 0,
    description: 'How many failures of each index are allowed before the index fails.',
  }),
  maxFailedIndexes: int32(13, {
    pointer: true,
    minimum: 0,
    description: 'How many indexes may fail before the Job fails.',
  }),
  podReplacementPolicy: string(14, {
    pointer: true,
    enum: ['Failed', 'TerminatingOrFailed'],
    enumUnchecked: true,
    description:
      'TerminatingOrFailed (the default): a pod is replaced when it is terminating; Failed: when it has terminated.',
  }),
  managedBy: string(15, {
    pointer: true,
    description: 'The controller of the Job, if it is not the built-in one.',
  }),
  successPolicy: struct(16, successPolicy, {
    pointer: true,
    description: 'When the Job succeeds before all its pods have succeeded.',
  }),
})
export interface JobSpec extends Infer<typeof jobSpec> {}
