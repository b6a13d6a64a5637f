// Containers of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { envFromSource, envVar } from './env-var.ts'
import { lifecycle, probe } from './probe.ts'
import { resourceRequirements } from '../resources/resource-requirements.ts'
import { securityContext } from './security-context.ts'

export const containerPort = message('io.k8s.api.core.v1.ContainerPort', {
  name: string(1, {
    description: 'A name for the port, unique in the pod, by which Services and probes can refer to it.',
  }),
  hostPort: int32(2, { description: 'The port of the node that leads to this one; none by default.' }),
  containerPort: int32(3, { required: true, description: 'The port in the container, from 1 to 65535.' }),
  protocol: string(4, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'], description: 'TCP (the default), UDP or SCTP.' }),
  hostIP: string(5, { description: 'The address of the node that hostPort listens on; all by default.' }),
})
export interface ContainerPort extends Infer<typeof containerPort> {}

export const containerResizePolicy = message('io.k8s.api.core.v1.ContainerResizePolicy', {
  resourceName: string(1, { required: true, description: 'cpu or memory.' }),
  restartPolicy: string(2, { required: true, description: 'NotRequired (the default) or RestartContainer.' }),
})
export interface ContainerResizePolicy extends Infer<typeof containerResizePolicy> {}

export const containerRestartRuleOnExitCodes = message('io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes', {
  operator: string(1, { required: true, omitEmpty: true, description: 'In or NotIn.' }),
  values: list(2, 'int32', { listType: 'set', description: 'The exit codes.' }),
})
export interface ContainerRestartRuleOnExitCodes extends Infer<typeof containerRestartRuleOnExitCodes> {}

export const containerRestartRule = message('io.k8s.api.core.v1.ContainerRestartRule', {
  action: string(1, {
    required: true,
    omitEmpty: true,
    description: 'What happens when the rule matches: Restart or RestartAllContainers.',
  }),
  exitCodes: struct(2, containerRestartRuleOnExitCodes, { pointer: true, description: 'The exit codes that match.' }),
})
export interface ContainerRestartRule extends Infer<typeof containerRestartRule> {}

export const volumeMount = message('io.k8s.api.core.v1.VolumeMount', {
  name: string(1, { required: true, description: 'The name of a volume of the pod.' }),
  readOnly: bool(2, { description: 'Whether the volume is mounted read-only; false by default.' }),
  mountPath: string(3, { required: true, description: 'The path in the container. It must not contain a colon.' }),
  subPath: string(4, { description: 'The path in the volume that is mounted; its root by default.' }),
  mountPropagation: string(5, {
    pointer: true,
    enum: ['Bidirectional', 'HostToContainer', 'None'],
    description:
      'Whether mounts inside the volume are passed on between node and container: None (the default), HostToContainer or Bidirectional.',
  }),
  subPathExpr: string(6, { description: 'As subPath, with $(NAME) replaced by environment variables.' }),
  recursiveReadOnly: string(7, {
    pointer: true,
    description: 'Whether mounts below are read-only too: Disabled (the default), IfPossible or Enabled.',
  }),
})
export interface VolumeMount extends Infer<typeof volumeMount> {}

export const volumeDevice = message('io.k8s.api.core.v1.VolumeDevice', {
  name: string(1, { required: true, description: 'The name of a volume of the pod whose claim has the mode Block.' }),
  devicePath: string(2, { required: true, description: 'The path of the device in the container.' }),
})
export interface VolumeDevice extends Infer<typeof volumeDevice> {}

export const container = message('io.k8s.api.core.v1.Container', {
  name: string(1, {
    required: true,
    notEmpty: true,
    description: 'The name of the container, unique in the pod and at most 63 characters long. It cannot be changed.',
  }),
  image: string(2, {
    description:
      'The image, such as registry.example/app:1.2. Without a tag it is latest, without a registry docker.io.',
  }),
  command: list(3, 'string', {
    listType: 'atomic',
    description:
      'The program and its first arguments, instead of the entrypoint of the image. $(NAME) is replaced by a variable.',
  }),
  args: list(4, 'string', {
    listType: 'atomic',
    description:
      'Arguments of the program, instead of the default arguments of the image. $(NAME) is replaced by a variable.',
  }),
  workingDir: string(5, { description: 'The directory in which the program starts; that of the image by default.' }),
  ports: list(6, containerPort, {
    listType: 'map',
    keys: ['containerPort', 'protocol'],
    patch: 'merge',
    mergeKey: 'containerPort',
    description:
      'Ports that the container listens on, for readers and for names. A port that is not listed can be reached too.',
  }),
  env: list(7, envVar, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Environment variables. They replace those of envFrom with the same name.',
  }),
  resources: struct(8, resourceRequirements, {
    description: 'The CPU, memory and other resources that the container requests and is limited to.',
  }),
  volumeMounts: list(9, volumeMount, {
    listType: 'map',
    keys: ['mountPath'],
    patch: 'merge',
    mergeKey: 'mountPath',
    description: 'Where volumes of the pod appear in the file system of the container.',
  }),
  livenessProbe: struct(10, probe, {
    pointer: true,
    description: 'A periodic check of whether the container works. When it fails, the container is restarted.',
  }),
  readinessProbe: struct(11, probe, {
    pointer: true,
    description:
      'A periodic check of whether the container serves requests. While it fails, Services do not send any to the pod.',
  }),
  lifecycle: struct(12, lifecycle, {
    pointer: true,
    description: 'Handlers that run after the start and before the end of the container.',
  }),
  terminationMessagePath: string(13, {
    default: '/dev/termination-log',
    description:
      'The file whose content becomes the message of the terminated container; /dev/termination-log by default.',
  }),
  imagePullPolicy: string(14, {
    enum: ['Always', 'IfNotPresent', 'Never'],
    description:
      'When the image is pulled: Always, IfNotPresent or Never. The default is Always for the tag latest, and IfNotPresent otherwise.',
  }),
  securityContext: struct(15, securityContext, {
    pointer: true,
    description:
      'The user, capabilities and other security settings of the container. They take precedence over those of the pod.',
  }),
  stdin: bool(16, {
    description: 'Whether the container has a standard input that a client can attach to; false by default.',
  }),
  stdinOnce: bool(17, {
    description: 'Whether the standard input is closed after the first client has detached; false by default.',
  }),
  tty: bool(18, { description: 'Whether the container gets a terminal; false by default. It requires stdin.' }),
  envFrom: list(19, envFromSource, {
    listType: 'atomic',
    description: 'ConfigMaps and Secrets whose keys become environment variables. A later one replaces an earlier one.',
  }),
  terminationMessagePolicy: string(20, {
    default: 'File',
    enum: ['File', 'FallbackToLogsOnError'],
    description:
      'File (the default) reads the message from the file; FallbackToLogsOnError uses the end of the log if the file is empty and the container failed.',
  }),
  volumeDevices: list(21, volumeDevice, {
    listType: 'map',
    keys: ['devicePath'],
    patch: 'merge',
    mergeKey: 'devicePath',
    description: 'Where volumes of the pod appear in the container as block devices.',
  }),
  startupProbe: struct(22, probe, {
    pointer: true,
    description: 'A check of whether the container has started. The other probes begin after its success.',
  }),
  resizePolicy: list(23, containerResizePolicy, {
    listType: 'atomic',
    description: 'For each resource, whether the container is restarted when the resource is resized in place.',
  }),
  restartPolicy: string(24, {
    pointer: true,
    description:
      'When the container is restarted, instead of the policy of the pod. Always makes an init container a sidecar.',
  }),
  restartPolicyRules: list(25, containerRestartRule, {
    listType: 'atomic',
    description: 'Rules that select an action by the exit code. The first matching rule applies before restartPolicy.',
  }),
})
export interface Container extends Infer<typeof container> {}

export const ephemeralContainer = message('io.k8s.api.core.v1.EphemeralContainer', {
  args: list(4, 'string', {
    embeddedAt: 1,
    listType: 'atomic',
    description:
      'Arguments of the program, instead of the default arguments of the image. $(NAME) is replaced by a variable.',
  }),
  command: list(3, 'string', {
    embeddedAt: 1,
    listType: 'atomic',
    description:
      'The program and its first arguments, instead of the entrypoint of the image. $(NAME) is replaced by a variable.',
  }),
  env: list(7, envVar, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Environment variables. They replace those of envFrom with the same name.',
  }),
  envFrom: list(19, envFromSource, {
    embeddedAt: 1,
    listType: 'atomic',
    description: 'ConfigMaps and Secrets whose keys become environment variables. A later one replaces an earlier one.',
  }),
  image: string(2, {
    embeddedAt: 1,
    description:
      'The image, such as registry.example/app:1.2. Without a tag it is latest, without a registry docker.io.',
  }),
  imagePullPolicy: string(14, {
    embeddedAt: 1,
    enum: ['Always', 'IfNotPresent', 'Never'],
    description:
      'When the image is pulled: Always, IfNotPresent or Never. The default is Always for the tag latest, and IfNotPresent otherwise.',
  }),
  lifecycle: struct(12, lifecycle, {
    embeddedAt: 1,
    pointer: true,
    description: 'Not allowed for ephemeral containers.',
  }),
  livenessProbe: struct(10, probe, {
    embeddedAt: 1,
    pointer: true,
    description: 'Not allowed for ephemeral containers.',
  }),
  name: string(1, {
    embeddedAt: 1,
    required: true,
    notEmpty: true,
    description: 'The name of the container, unique in the pod and at most 63 characters long. It cannot be changed.',
  }),
  ports: list(6, containerPort, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['containerPort', 'protocol'],
    patch: 'merge',
    mergeKey: 'containerPort',
    description: 'Not allowed for ephemeral containers.',
  }),
  readinessProbe: struct(11, probe, {
    embeddedAt: 1,
    pointer: true,
    description: 'Not allowed for ephemeral containers.',
  }),
  resizePolicy: list(23, containerResizePolicy, {
    embeddedAt: 1,
    listType: 'atomic',
    description: 'Not allowed for ephemeral containers.',
  }),
  resources: struct(8, resourceRequirements, {
    embeddedAt: 1,
    description: 'Not allowed for ephemeral containers, which use what is left of the pod.',
  }),
  restartPolicy: string(24, {
    embeddedAt: 1,
    pointer: true,
    description: 'Not allowed for ephemeral containers, which are never restarted.',
  }),
  restartPolicyRules: list(25, containerRestartRule, {
    embeddedAt: 1,
    listType: 'atomic',
    description: 'Not allowed for ephemeral containers.',
  }),
  securityContext: struct(15, securityContext, {
    embeddedAt: 1,
    pointer: true,
    description:
      'The user, capabilities and other security settings of the container. They take precedence over those of the pod.',
  }),
  startupProbe: struct(22, probe, {
    embeddedAt: 1,
    pointer: true,
    description: 'Not allowed for ephemeral containers.',
  }),
  stdin: bool(16, {
    embeddedAt: 1,
    description: 'Whether the container has a standard input that a client can attach to; false by default.',
  }),
  stdinOnce: bool(17, {
    embeddedAt: 1,
    description: 'Whether the standard input is closed after the first client has detached; false by default.',
  }),
  terminationMessagePath: string(13, {
    embeddedAt: 1,
    default: '/dev/termination-log',
    description:
      'The file whose content becomes the message of the terminated container; /dev/termination-log by default.',
  }),
  terminationMessagePolicy: string(20, {
    embeddedAt: 1,
    default: 'File',
    enum: ['File', 'FallbackToLogsOnError'],
    description:
      'File (the default) reads the message from the file; FallbackToLogsOnError uses the end of the log if the file is empty and the container failed.',
  }),
  tty: bool(18, {
    embeddedAt: 1,
    description: 'Whether the container gets a terminal; false by default. It requires stdin.',
  }),
  volumeDevices: list(21, volumeDevice, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['devicePath'],
    patch: 'merge',
    mergeKey: 'devicePath',
    description: 'Where volumes of the pod appear in the container as block devices.',
  }),
  volumeMounts: list(9, volumeMount, {
    embeddedAt: 1,
    listType: 'map',
    keys: ['mountPath'],
    patch: 'merge',
    mergeKey: 'mountPath',
    description: 'Where volumes of the pod appear in the file system of the container.',
  }),
  workingDir: string(5, {
    embeddedAt: 1,
    description: 'The directory in which the program starts; that of the image by default.',
  }),
  targetContainerName: string(2, { description: 'The container whose processes it sees. It cannot be changed.' }),
})
export interface EphemeralContainer extends Infer<typeof ephemeralContainer> {}
