// JobSpec: the spec of a Job; CronJobs have it in a template.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const podFailurePolicyOnExitCodesRequirement = message(
  'io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement',
  {
    containerName: string(1, { pointer: true }),
    operator: string(2, { required: true, enum: ['In', 'NotIn'] }),
    values: list(3, 'int32', { required: true, listType: 'set' }),
  },
)
export interface PodFailurePolicyOnExitCodesRequirement extends Infer<typeof podFailurePolicyOnExitCodesRequirement> {}

export const podFailurePolicyOnPodConditionsPattern = message(
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern',
  {
    type: string(1, { required: true }),
    status: string(2, { keepEmpty: true }),
  },
)
export interface PodFailurePolicyOnPodConditionsPattern extends Infer<typeof podFailurePolicyOnPodConditionsPattern> {}

export const podFailurePolicyRule = message('io.k8s.api.batch.v1.PodFailurePolicyRule', {
  action: string(1, { required: true, enum: ['Count', 'FailIndex', 'FailJob', 'Ignore'] }),
  onExitCodes: struct(2, podFailurePolicyOnExitCodesRequirement, { pointer: true }),
  onPodConditions: list(3, podFailurePolicyOnPodConditionsPattern, { listType: 'atomic' }),
})
export interface PodFailurePolicyRule extends Infer<typeof podFailurePolicyRule> {}

export const podFailurePolicy = message('io.k8s.api.batch.v1.PodFailurePolicy', {
  rules: list(1, podFailurePolicyRule, { required: true, listType: 'atomic' }),
})
export interface PodFailurePolicy extends Infer<typeof podFailurePolicy> {}

export const successPolicyRule = message('io.k8s.api.batch.v1.SuccessPolicyRule', {
  succeededIndexes: string(1, { pointer: true }),
  succeededCount: int32(2, { pointer: true, minimum: 0 }),
})
export interface SuccessPolicyRule extends Infer<typeof successPolicyRule> {}

export const successPolicy = message('io.k8s.api.batch.v1.SuccessPolicy', {
  rules: list(1, successPolicyRule, { required: true, listType: 'atomic' }),
})
export interface SuccessPolicy extends Infer<typeof successPolicy> {}

export const jobSpec = message('io.k8s.api.batch.v1.JobSpec', {
  parallelism: int32(1, { pointer: true, minimum: 0, description: 'How many pods may run at once.' }),
  completions: int32(2, { pointer: true, minimum: 0, description: 'How many pods must succeed.' }),
  activeDeadlineSeconds: int64(3, {
    pointer: true,
    minimum: 0,
    description: 'How long the Job may run before it is ended as failed.',
  }),
  selector: struct(4, labelSelector, { pointer: true, description: 'Which pods are its own; normally made for you.' }),
  manualSelector: bool(5, {
    pointer: true,
    description: 'The selector is yours, and so is the care that it fits no other pods.',
  }),
  template: struct(6, podTemplateSpec, { required: true, description: 'What the pods are made from.' }),
  backoffLimit: int32(7, { pointer: true, minimum: 0, description: 'How many failures the Job puts up with.' }),
  ttlSecondsAfterFinished: int32(8, {
    pointer: true,
    minimum: 0,
    description: 'How long the Job stays after its end.',
  }),
  completionMode: string(9, {
    pointer: true,
    enum: ['NonIndexed', 'Indexed'],
    description: 'Whether pods are alike or each has an index.',
  }),
  suspend: bool(10, { pointer: true, description: 'No pods run while this is true.' }),
  podFailurePolicy: struct(11, podFailurePolicy, {
    pointer: true,
    description: 'What to do with failures of certain kinds.',
  }),
  backoffLimitPerIndex: int32(12, {
    pointer: true,
    minimum: 0,
    description: 'How many failures each index puts up with.',
  }),
  maxFailedIndexes: int32(13, {
    pointer: true,
    minimum: 0,
    description: 'How many indexes may fail before the Job does.',
  }),
  podReplacementPolicy: string(14, {
    pointer: true,
    enum: ['Failed', 'TerminatingOrFailed'],
    enumUnchecked: true,
    description: 'Whether a pod is replaced when it begins to end or when it has ended.',
  }),
  managedBy: string(15, {
    pointer: true,
    description: 'The controller that looks after the Job, if it is not the built-in one.',
  }),
  successPolicy: struct(16, successPolicy, {
    pointer: true,
    description: 'When the Job counts as done before all its pods have succeeded.',
  }),
})
export interface JobSpec extends Infer<typeof jobSpec> {}
