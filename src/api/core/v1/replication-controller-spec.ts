// ReplicationControllerSpec and ReplicationControllerStatus.
import type { Infer } from '../../../schema/infer.ts'
import { int32, int64, list, map, message, string, struct, time } from '../../../schema/field.ts'
import { podTemplateSpec } from './pod-template-spec.ts'

export const replicationControllerSpec = message('io.k8s.api.core.v1.ReplicationControllerSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0 }),
  selector: map(2, 'string', { mapType: 'atomic' }),
  template: struct(3, podTemplateSpec, { pointer: true }),
  minReadySeconds: int32(4, { minimum: 0 }),
})
export interface ReplicationControllerSpec extends Infer<typeof replicationControllerSpec> {}

export const replicationControllerCondition = message('io.k8s.api.core.v1.ReplicationControllerCondition', {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  lastTransitionTime: time(3),
  reason: string(4),
  message: string(5),
})
export interface ReplicationControllerCondition extends Infer<typeof replicationControllerCondition> {}

export const replicationControllerStatus = message('io.k8s.api.core.v1.ReplicationControllerStatus', {
  replicas: int32(1, { required: true }),
  fullyLabeledReplicas: int32(2),
  observedGeneration: int64(3),
  readyReplicas: int32(4),
  availableReplicas: int32(5),
  conditions: list(6, replicationControllerCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
  }),
})
export interface ReplicationControllerStatus extends Infer<typeof replicationControllerStatus> {}
