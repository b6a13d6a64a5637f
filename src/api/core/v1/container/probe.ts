// Probes and lifecycle hooks of a container.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { int32, int64, intOrString, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { stopSignals } from './stop-signals.ts'

export const execAction = message('io.k8s.api.core.v1.ExecAction', {
  command: list(1, 'string', { listType: 'atomic' }),
})
export interface ExecAction extends Infer<typeof execAction> {}

export const httpHeader = message('io.k8s.api.core.v1.HTTPHeader', {
  name: string(1, { required: true }),
  value: string(2, { required: true }),
})
export interface HTTPHeader extends Infer<typeof httpHeader> {}

export const httpGetAction = message('io.k8s.api.core.v1.HTTPGetAction', {
  path: string(1, { default: '/' }),
  port: intOrString(2, { required: true }),
  host: string(3),
  scheme: string(4, { default: 'HTTP', enum: ['HTTP', 'HTTPS'] }),
  httpHeaders: list(5, httpHeader, { listType: 'atomic' }),
})
export interface HTTPGetAction extends Infer<typeof httpGetAction> {}

export const tcpSocketAction = message('io.k8s.api.core.v1.TCPSocketAction', {
  port: intOrString(1, { required: true }),
  host: string(2),
})
export interface TCPSocketAction extends Infer<typeof tcpSocketAction> {}

export const grpcAction = message('io.k8s.api.core.v1.GRPCAction', {
  port: int32(1, { required: true }),
  service: string(2, { pointer: true, keepEmpty: true, default: '' }),
})
export interface GRPCAction extends Infer<typeof grpcAction> {}

export const sleepAction = message('io.k8s.api.core.v1.SleepAction', {
  seconds: int64(1, { required: true }),
})
export interface SleepAction extends Infer<typeof sleepAction> {}

export const probe = message('io.k8s.api.core.v1.Probe', {
  exec: struct(1, execAction, { embeddedAt: 1, pointer: true }),
  grpc: struct(4, grpcAction, { embeddedAt: 1, pointer: true }),
  httpGet: struct(2, httpGetAction, { embeddedAt: 1, pointer: true }),
  tcpSocket: struct(3, tcpSocketAction, { embeddedAt: 1, pointer: true }),
  initialDelaySeconds: int32(2, { minimum: 0 }),
  timeoutSeconds: int32(3, { default: 1, minimum: 0 }),
  periodSeconds: int32(4, { default: 10, minimum: 0 }),
  successThreshold: int32(5, { default: 1, minimum: 0 }),
  failureThreshold: int32(6, { default: 3, minimum: 0 }),
  terminationGracePeriodSeconds: int64(7, { pointer: true }),
})
export interface Probe extends Infer<typeof probe> {}

export const lifecycleHandler = message('io.k8s.api.core.v1.LifecycleHandler', {
  exec: struct(1, execAction, { pointer: true }),
  httpGet: struct(2, httpGetAction, { pointer: true }),
  tcpSocket: struct(3, tcpSocketAction, { pointer: true }),
  sleep: struct(4, sleepAction, { pointer: true }),
})
export interface LifecycleHandler extends Infer<typeof lifecycleHandler> {}

export const lifecycle = message('io.k8s.api.core.v1.Lifecycle', {
  postStart: struct(1, lifecycleHandler, { pointer: true }),
  preStop: struct(2, lifecycleHandler, { pointer: true }),
  stopSignal: string(3, { pointer: true, enum: stopSignals }),
})
export interface Lifecycle extends Infer<typeof lifecycle> {}
