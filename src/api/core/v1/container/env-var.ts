// Environment variables of a container and the sources of their values.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, message, quantity, string, struct } from '../../../../schema/descriptor/field.ts'

export const configMapKeySelector = atomicMessage('io.k8s.api.core.v1.ConfigMapKeySelector', {
  name: string(1, { embeddedAt: 1 }),
  key: string(2, { required: true }),
  optional: bool(3, { pointer: true }),
})
export interface ConfigMapKeySelector extends Infer<typeof configMapKeySelector> {}

export const secretKeySelector = atomicMessage('io.k8s.api.core.v1.SecretKeySelector', {
  name: string(1, { embeddedAt: 1 }),
  key: string(2, { required: true }),
  optional: bool(3, { pointer: true }),
})
export interface SecretKeySelector extends Infer<typeof secretKeySelector> {}

export const fileKeySelector = atomicMessage('io.k8s.api.core.v1.FileKeySelector', {
  volumeName: string(1, { required: true }),
  path: string(2, { required: true }),
  key: string(3, { required: true }),
  optional: bool(4, { pointer: true, default: false }),
})
export interface FileKeySelector extends Infer<typeof fileKeySelector> {}

export const objectFieldSelector = atomicMessage('io.k8s.api.core.v1.ObjectFieldSelector', {
  apiVersion: string(1, { default: 'v1' }),
  fieldPath: string(2, { required: true }),
})
export interface ObjectFieldSelector extends Infer<typeof objectFieldSelector> {}

export const resourceFieldSelector = atomicMessage('io.k8s.api.core.v1.ResourceFieldSelector', {
  containerName: string(1),
  resource: string(2, { required: true }),
  divisor: quantity(3, { default: '0' }),
})
export interface ResourceFieldSelector extends Infer<typeof resourceFieldSelector> {}

export const envVarSource = message('io.k8s.api.core.v1.EnvVarSource', {
  fieldRef: struct(1, objectFieldSelector, { pointer: true }),
  resourceFieldRef: struct(2, resourceFieldSelector, { pointer: true }),
  configMapKeyRef: struct(3, configMapKeySelector, { pointer: true }),
  secretKeyRef: struct(4, secretKeySelector, { pointer: true }),
  fileKeyRef: struct(5, fileKeySelector, { pointer: true }),
})
export interface EnvVarSource extends Infer<typeof envVarSource> {}

export const envVar = message('io.k8s.api.core.v1.EnvVar', {
  name: string(1, { required: true }),
  value: string(2),
  valueFrom: struct(3, envVarSource, { pointer: true }),
})
export interface EnvVar extends Infer<typeof envVar> {}

export const configMapEnvSource = message('io.k8s.api.core.v1.ConfigMapEnvSource', {
  name: string(1, { embeddedAt: 1 }),
  optional: bool(2, { pointer: true }),
})
export interface ConfigMapEnvSource extends Infer<typeof configMapEnvSource> {}

export const secretEnvSource = message('io.k8s.api.core.v1.SecretEnvSource', {
  name: string(1, { embeddedAt: 1 }),
  optional: bool(2, { pointer: true }),
})
export interface SecretEnvSource extends Infer<typeof secretEnvSource> {}

export const envFromSource = message('io.k8s.api.core.v1.EnvFromSource', {
  prefix: string(1),
  configMapRef: struct(2, configMapEnvSource, { pointer: true }),
  secretRef: struct(3, secretEnvSource, { pointer: true }),
})
export interface EnvFromSource extends Infer<typeof envFromSource> {}
