// Containers of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { envFromSource, envVar } from './env-var.ts'
import { lifecycle, probe } from './probe.ts'
import { resourceRequirements } from '../resources/resource-requirements.ts'
import { securityContext } from './security-context.ts'

export const containerPort = message('io.k8s.api.core.v1.ContainerPort', {
  name: string(1),
  hostPort: int32(2),
  containerPort: int32(3, { required: true }),
  protocol: string(4, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  hostIP: string(5),
})
export interface ContainerPort extends Infer<typeof containerPort> {}

export const containerResizePolicy = message('io.k8s.api.core.v1.ContainerResizePolicy', {
  resourceName: string(1, { required: true }),
  restartPolicy: string(2, { required: true }),
})
export interface ContainerResizePolicy extends Infer<typeof containerResizePolicy> {}

export const containerRestartRuleOnExitCodes = message('io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes', {
  operator: string(1, { required: true, omitEmpty: true }),
  values: list(2, 'int32', { listType: 'set' }),
})
export interface ContainerRestartRuleOnExitCodes extends Infer<typeof containerRestartRuleOnExitCodes> {}

export const containerRestartRule = message('io.k8s.api.core.v1.ContainerRestartRule', {
  action: string(1, { required: true, omitEmpty: true }),
  exitCodes: struct(2, containerRestartRuleOnExitCodes, { pointer: true }),
})
export interface ContainerRestartRule extends Infer<typeof containerRestartRule> {}

export const volumeMount = message('io.k8s.api.core.v1.VolumeMount', {
  name: string(1, { required: true }),
  readOnly: bool(2),
  mountPath: string(3, { required: true }),
  subPath: string(4),
  mountPropagation: string(5, { pointer: true, enum: ['Bidirectional', 'HostToContainer', 'None'] }),
  subPathExpr: string(6),
  recursiveReadOnly: string(7, { pointer: true }),
})
export interface VolumeMount extends Infer<typeof volumeMount> {}

export const volumeDevice = message('io.k8s.api.core.v1.VolumeDevice', {
  name: string(1, { required: true }),
  devicePath: string(2, { required: true }),
})
export interface VolumeDevice extends Infer<typeof volumeDevice> {}

export const container = message('io.k8s.api.core.v1.Container', {
  name: string(1, { required: true, notEmpty: true }),
  image: string(2),
  command: list(3, 'string', { listType: 'atomic' }),
  args: list(4, 'string', { listType: 'atomic' }),
  workingDir: string(5),
  ports: list(6, containerPort, {
    listType: 'map',
    keys: ['containerPort', 'protocol'],
    patch: 'merge',
    mergeKey: 'containerPort',
  }),
  env: list(7, envVar, { listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
  resources: struct(8, resourceRequirements),
  volumeMounts: list(9, volumeMount, { listType: 'map', keys: ['mountPath'], patch: 'merge', mergeKey: 'mountPath' }),
  livenessProbe: struct(10, probe, { pointer: true }),
  readinessProbe: struct(11, probe, { pointer: true }),
  lifecycle: struct(12, lifecycle, { pointer: true }),
  terminationMessagePath: string(13, { default: '/dev/termination-log' }),
  imagePullPolicy: string(14, { enum: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: struct(15, securityContext, { pointer: true }),
  stdin: bool(16),
  stdinOnce: bool(17),
  tty: bool(18),
  envFrom: list(19, envFromSource, { listType: 'atomic' }),
  terminationMessagePolicy: string(20, { default: 'File', enum: ['File', 'FallbackToLogsOnError'] }),
  volumeDevices: list(21, volumeDevice, {
    listType: 'map',
    keys: ['devicePath'],
    patch: 'merge',
    mergeKey: 'devicePath',
  }),
  startupProbe: struct(22, probe, { pointer: true }),
  resizePolicy: list(23, containerResizePolicy, { listType: 'atomic' }),
  restartPolicy: string(24, { pointer: true }),
  restartPolicyRules: list(25, containerRestartRule, { listType: 'atomic' }),
})
export interface Container extends Infer<typeof container> {}

export const ephemeralContainer = message('io.k8s.api.core.v1.EphemeralContainer', {
  args: list(4, 'string', { embeddedAt: 1, listType: 'atomic' }),
  command: list(3, 'string', { embeddedAt: 1, listType: 'atomic' }),
  env: list(7, envVar, { embeddedAt: 1, listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
  envFrom: list(19, envFromSource, { embeddedAt: 1, listType: 'atomic' }),
  image: string(2, { embeddedAt: 1 }),
  imagePullPolicy: string(14, { embeddedAt: 1, enum: ['Always', 'IfNotPresent', 'Never'] }),
  lifecycle: struct(12, lifecycle, { embeddedAt: 1, pointer: true }),
  livenessProbe: struct(10, probe, { embeddedAt: 1, pointer: true }),
  name: string(1, { embeddedAt: 1, required: true, notEmpty: true }),
  ports: list(6, containerPort, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['containerPort', 'protocol'],
    patch: 'merge',
    mergeKey: 'containerPort',
  }),
  readinessProbe: struct(11, probe, { embeddedAt: 1, pointer: true }),
  resizePolicy: list(23, containerResizePolicy, { embeddedAt: 1, listType: 'atomic' }),
  resources: struct(8, resourceRequirements, { embeddedAt: 1 }),
  restartPolicy: string(24, { embeddedAt: 1, pointer: true }),
  restartPolicyRules: list(25, containerRestartRule, { embeddedAt: 1, listType: 'atomic' }),
  securityContext: struct(15, securityContext, { embeddedAt: 1, pointer: true }),
  startupProbe: struct(22, probe, { embeddedAt: 1, pointer: true }),
  stdin: bool(16, { embeddedAt: 1 }),
  stdinOnce: bool(17, { embeddedAt: 1 }),
  terminationMessagePath: string(13, { embeddedAt: 1, default: '/dev/termination-log' }),
  terminationMessagePolicy: string(20, { embeddedAt: 1, default: 'File', enum: ['File', 'FallbackToLogsOnError'] }),
  tty: bool(18, { embeddedAt: 1 }),
  volumeDevices: list(21, volumeDevice, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['devicePath'],
    patch: 'merge',
    mergeKey: 'devicePath',
  }),
  volumeMounts: list(9, volumeMount, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['mountPath'],
    patch: 'merge',
    mergeKey: 'mountPath',
  }),
  workingDir: string(5, { embeddedAt: 1 }),
  targetContainerName: string(2),
})
export interface EphemeralContainer extends Infer<typeof ephemeralContainer> {}
