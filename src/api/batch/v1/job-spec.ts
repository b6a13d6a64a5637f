// JobSpec: what a Job is to do; CronJobs carry it as a template.
import type { Infer } from '../../../schema/infer.ts'
import { bool, int32, int64, list, message, string, struct } from '../../../schema/field.ts'
import { podTemplateSpec } from '../../core/v1/pod-template-spec.ts'
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
  parallelism: int32(1, { pointer: true, minimum: 0 }),
  completions: int32(2, { pointer: true, minimum: 0 }),
  activeDeadlineSeconds: int64(3, { pointer: true, minimum: 0 }),
  selector: struct(4, labelSelector, { pointer: true }),
  manualSelector: bool(5, { pointer: true }),
  template: struct(6, podTemplateSpec, { required: true }),
  backoffLimit: int32(7, { pointer: true, minimum: 0 }),
  ttlSecondsAfterFinished: int32(8, { pointer: true, minimum: 0 }),
  completionMode: string(9, { pointer: true, enum: ['NonIndexed', 'Indexed'] }),
  suspend: bool(10, { pointer: true }),
  podFailurePolicy: struct(11, podFailurePolicy, { pointer: true }),
  backoffLimitPerIndex: int32(12, { pointer: true, minimum: 0 }),
  maxFailedIndexes: int32(13, { pointer: true, minimum: 0 }),
  podReplacementPolicy: string(14, { pointer: true, enum: ['Failed', 'TerminatingOrFailed'] }),
  managedBy: string(15, { pointer: true }),
  successPolicy: struct(16, successPolicy, { pointer: true }),
})
export interface JobSpec extends Infer<typeof jobSpec> {}
