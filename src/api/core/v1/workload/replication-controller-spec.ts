// ReplicationControllerSpec and ReplicationControllerStatus.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { int32, int64, list, map, message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import { podTemplateSpec } from '../pod-spec/pod-template-spec.ts'

export const replicationControllerSpec = message('io.k8s.api.core.v1.ReplicationControllerSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0, description: 'How many pods should run; 1 by default.' }),
  selector: map(2, 'string', { mapType: 'atomic', description: 'Selects the pods by label.' }),
  template: struct(3, podTemplateSpec, { pointer: true, description: 'The template of the pods.' }),
  minReadySeconds: int32(4, {
    minimum: 0,
    description: 'How many seconds a pod must be ready to count as available; 0 by default.',
  }),
})
export interface ReplicationControllerSpec extends Infer<typeof replicationControllerSpec> {}

export const replicationControllerCondition = message('io.k8s.api.core.v1.ReplicationControllerCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface ReplicationControllerCondition extends Infer<typeof replicationControllerCondition> {}

export const replicationControllerStatus = message('io.k8s.api.core.v1.ReplicationControllerStatus', {
  replicas: int32(1, { required: true, description: 'How many pods there are.' }),
  fullyLabeledReplicas: int32(2, { description: 'How many of them have all the labels of the template.' }),
  observedGeneration: int64(3, { description: 'The generation that this status is based on.' }),
  readyReplicas: int32(4, { description: 'How many of them are ready.' }),
  availableReplicas: int32(5, { description: 'How many of them have been ready for long enough.' }),
  conditions: list(6, replicationControllerCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the controller.',
  }),
})
export interface ReplicationControllerStatus extends Infer<typeof replicationControllerStatus> {}
