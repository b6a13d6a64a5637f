// DaemonSetSpec and DaemonSetStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, intOrString, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const rollingUpdateDaemonSet = message('io.k8s.api.apps.v1.RollingUpdateDaemonSet', {
  maxUnavailable: intOrString(1, {
    pointer: true,
    default: 1,
    description:
      'How many nodes may be without a ready pod during an update, as a number or a percentage; 1 by default.',
  }),
  maxSurge: intOrString(2, {
    pointer: true,
    default: 0,
    description:
      'On how many nodes the new pod starts before the old one ends, as a number or a percentage; 0 by default.',
  }),
})
export interface RollingUpdateDaemonSet extends Infer<typeof rollingUpdateDaemonSet> {}

export const daemonSetUpdateStrategy = message('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', {
  type: string(1, {
    default: 'RollingUpdate',
    enum: ['OnDelete', 'RollingUpdate'],
    enumUnchecked: true,
    description: 'RollingUpdate (the default) replaces pods by itself, OnDelete only after they were deleted.',
  }),
  rollingUpdate: struct(2, rollingUpdateDaemonSet, { pointer: true, description: 'The pace of a rolling update.' }),
})
export interface DaemonSetUpdateStrategy extends Infer<typeof daemonSetUpdateStrategy> {}

export const daemonSetSpec = message('io.k8s.api.apps.v1.DaemonSetSpec', {
  selector: struct(1, labelSelector, {
    required: true,
    pointer: true,
    description: 'Selects the pods by label; immutable.',
  }),
  template: struct(2, podTemplateSpec, {
    required: true,
    description: 'The template of the pods, which also selects the nodes.',
  }),
  updateStrategy: struct(3, daemonSetUpdateStrategy, {
    description: 'How pods are replaced when the template changes.',
  }),
  minReadySeconds: int32(4, {
    minimum: 0,
    description: 'How many seconds a pod must be ready to count as available; 0 by default.',
  }),
  revisionHistoryLimit: int32(6, {
    pointer: true,
    default: 10,
    minimum: 0,
    description: 'How many old revisions are retained; 10 by default.',
  }),
})
export interface DaemonSetSpec extends Infer<typeof daemonSetSpec> {}

export const daemonSetCondition = message('io.k8s.api.apps.v1.DaemonSetCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface DaemonSetCondition extends Infer<typeof daemonSetCondition> {}

export const daemonSetStatus = message('io.k8s.api.apps.v1.DaemonSetStatus', {
  currentNumberScheduled: int32(1, { required: true, description: 'How many nodes run a pod as desired.' }),
  numberMisscheduled: int32(2, { required: true, description: 'How many nodes run a pod although they should not.' }),
  desiredNumberScheduled: int32(3, { required: true, description: 'How many nodes should run a pod.' }),
  numberReady: int32(4, { required: true, description: 'How many nodes have a ready pod.' }),
  observedGeneration: int64(5, { description: 'The generation that this status is based on.' }),
  updatedNumberScheduled: int32(6, { description: 'How many nodes run a pod of the current template.' }),
  numberAvailable: int32(7, { description: 'How many nodes have a pod that has been ready for long enough.' }),
  numberUnavailable: int32(8, { description: 'How many nodes should have an available pod but do not.' }),
  collisionCount: int32(9, {
    pointer: true,
    description: 'How often the name of a revision collided with an existing one.',
  }),
  conditions: list(10, daemonSetCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the controller.',
  }),
})
export interface DaemonSetStatus extends Infer<typeof daemonSetStatus> {}
