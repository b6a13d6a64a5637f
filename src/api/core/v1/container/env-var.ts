// Environment variables of a container and the sources of their values.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, message, quantity, string, struct } from '../../../../schema/descriptor/field.ts'

export const configMapKeySelector = atomicMessage('io.k8s.api.core.v1.ConfigMapKeySelector', {
  name: string(1, { embeddedAt: 1, description: 'The name of the ConfigMap in the namespace of the pod.' }),
  key: string(2, { required: true, description: 'The key in the ConfigMap.' }),
  optional: bool(3, {
    pointer: true,
    description: 'Whether the pod may start although the ConfigMap or the key does not exist; false by default.',
  }),
})
export interface ConfigMapKeySelector extends Infer<typeof configMapKeySelector> {}

export const secretKeySelector = atomicMessage('io.k8s.api.core.v1.SecretKeySelector', {
  name: string(1, { embeddedAt: 1, description: 'The name of the Secret in the namespace of the pod.' }),
  key: string(2, { required: true, description: 'The key in the Secret.' }),
  optional: bool(3, {
    pointer: true,
    description: 'Whether the pod may start although the Secret or the key does not exist; false by default.',
  }),
})
export interface SecretKeySelector extends Infer<typeof secretKeySelector> {}

export const fileKeySelector = atomicMessage('io.k8s.api.core.v1.FileKeySelector', {
  volumeName: string(1, { required: true, description: 'The volume with the file.' }),
  path: string(2, { required: true, description: 'The path of the file in the volume.' }),
  key: string(3, { required: true, description: 'The key in the file.' }),
  optional: bool(4, {
    pointer: true,
    default: false,
    description: 'Whether the pod may start although the file or the key does not exist; false by default.',
  }),
})
export interface FileKeySelector extends Infer<typeof fileKeySelector> {}

export const objectFieldSelector = atomicMessage('io.k8s.api.core.v1.ObjectFieldSelector', {
  apiVersion: string(1, { default: 'v1', description: 'The API version in which the field is named; v1 by default.' }),
  fieldPath: string(2, { required: true, description: 'The path of the field, such as metadata.name.' }),
})
export interface ObjectFieldSelector extends Infer<typeof objectFieldSelector> {}

export const resourceFieldSelector = atomicMessage('io.k8s.api.core.v1.ResourceFieldSelector', {
  containerName: string(1, { description: 'The container; required in volumes, the own container in variables.' }),
  resource: string(2, { required: true, description: 'The resource, such as limits.cpu or requests.memory.' }),
  divisor: quantity(3, {
    default: '0',
    description: 'The unit of the output, such as 1m or 1Mi; 0, the default, stands for 1.',
  }),
})
export interface ResourceFieldSelector extends Infer<typeof resourceFieldSelector> {}

export const envVarSource = message('io.k8s.api.core.v1.EnvVarSource', {
  fieldRef: struct(1, objectFieldSelector, {
    pointer: true,
    description: 'A field of the pod, such as metadata.name or status.podIP.',
  }),
  resourceFieldRef: struct(2, resourceFieldSelector, {
    pointer: true,
    description: 'A resource that a container requests or is limited to.',
  }),
  configMapKeyRef: struct(3, configMapKeySelector, { pointer: true, description: 'A key of a ConfigMap.' }),
  secretKeyRef: struct(4, secretKeySelector, { pointer: true, description: 'A key of a Secret.' }),
  fileKeyRef: struct(5, fileKeySelector, {
    pointer: true,
    description: 'A key of a file of variables in an emptyDir volume.',
  }),
})
export interface EnvVarSource extends Infer<typeof envVarSource> {}

export const envVar = message('io.k8s.api.core.v1.EnvVar', {
  name: string(1, { required: true, description: 'The name of the variable.' }),
  value: string(2, {
    description: 'Its value; empty by default. $(NAME) is replaced by an earlier variable, $$ by $.',
  }),
  valueFrom: struct(3, envVarSource, { pointer: true, description: 'Where the value comes from, instead of value.' }),
})
export interface EnvVar extends Infer<typeof envVar> {}

export const configMapEnvSource = message('io.k8s.api.core.v1.ConfigMapEnvSource', {
  name: string(1, { embeddedAt: 1, description: 'The name of the ConfigMap in the namespace of the pod.' }),
  optional: bool(2, {
    pointer: true,
    description: 'Whether the pod may start although the ConfigMap does not exist; false by default.',
  }),
})
export interface ConfigMapEnvSource extends Infer<typeof configMapEnvSource> {}

export const secretEnvSource = message('io.k8s.api.core.v1.SecretEnvSource', {
  name: string(1, { embeddedAt: 1, description: 'The name of the Secret in the namespace of the pod.' }),
  optional: bool(2, {
    pointer: true,
    description: 'Whether the pod may start although the Secret does not exist; false by default.',
  }),
})
export interface SecretEnvSource extends Infer<typeof secretEnvSource> {}

export const envFromSource = message('io.k8s.api.core.v1.EnvFromSource', {
  prefix: string(1, { description: 'A text before the name of each variable; none by default.' }),
  configMapRef: struct(2, configMapEnvSource, { pointer: true, description: 'The ConfigMap.' }),
  secretRef: struct(3, secretEnvSource, { pointer: true, description: 'The Secret.' }),
})
export interface EnvFromSource extends Infer<typeof envFromSource> {}
