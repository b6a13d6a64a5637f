// Probes and lifecycle hooks of a container.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { int32, int64, intOrString, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { stopSignals } from './stop-signals.ts'

export const execAction = message('io.k8s.api.core.v1.ExecAction', {
  command: list(1, 'string', {
    listType: 'atomic',
    description: 'The program and its arguments. It is not run in a shell.',
  }),
})
export interface ExecAction extends Infer<typeof execAction> {}

export const httpHeader = message('io.k8s.api.core.v1.HTTPHeader', {
  name: string(1, { required: true, description: 'The name of the header.' }),
  value: string(2, { required: true, description: 'Its value.' }),
})
export interface HTTPHeader extends Infer<typeof httpHeader> {}

export const httpGetAction = message('io.k8s.api.core.v1.HTTPGetAction', {
  path: string(1, { default: '/', description: 'The path of the request; / by default.' }),
  port: intOrString(2, {
    required: true,
    description: 'The port, as a number or as the name of a port of the container.',
  }),
  host: string(3, { description: 'The host; the address of the pod by default.' }),
  scheme: string(4, {
    default: 'HTTP',
    enum: ['HTTP', 'HTTPS'],
    description: 'HTTP (the default) or HTTPS, whose certificate is not verified.',
  }),
  httpHeaders: list(5, httpHeader, { listType: 'atomic', description: 'Headers of the request.' }),
})
export interface HTTPGetAction extends Infer<typeof httpGetAction> {}

export const tcpSocketAction = message('io.k8s.api.core.v1.TCPSocketAction', {
  port: intOrString(1, {
    required: true,
    description: 'The port, as a number or as the name of a port of the container.',
  }),
  host: string(2, { description: 'The host; the address of the pod by default.' }),
})
export interface TCPSocketAction extends Infer<typeof tcpSocketAction> {}

export const grpcAction = message('io.k8s.api.core.v1.GRPCAction', {
  port: int32(1, { required: true, description: 'The port, from 1 to 65535.' }),
  service: string(2, {
    pointer: true,
    keepEmpty: true,
    default: '',
    description: 'The name of the service in the request; empty by default.',
  }),
})
export interface GRPCAction extends Infer<typeof grpcAction> {}

export const sleepAction = message('io.k8s.api.core.v1.SleepAction', {
  seconds: int64(1, { required: true, description: 'The length of the pause in seconds.' }),
})
export interface SleepAction extends Infer<typeof sleepAction> {}

export const probe = message('io.k8s.api.core.v1.Probe', {
  exec: struct(1, execAction, {
    embeddedAt: 1,
    pointer: true,
    description: 'A command in the container; exit code 0 is a success.',
  }),
  grpc: struct(4, grpcAction, { embeddedAt: 1, pointer: true, description: 'A call of the gRPC health service.' }),
  httpGet: struct(2, httpGetAction, {
    embeddedAt: 1,
    pointer: true,
    description: 'An HTTP request; a status from 200 to 399 is a success.',
  }),
  tcpSocket: struct(3, tcpSocketAction, {
    embeddedAt: 1,
    pointer: true,
    description: 'A TCP connection; opening it is a success.',
  }),
  initialDelaySeconds: int32(2, {
    minimum: 0,
    description: 'Seconds after the start of the container until the first check; 0 by default.',
  }),
  timeoutSeconds: int32(3, { default: 1, minimum: 0, description: 'Seconds until a check has failed; 1 by default.' }),
  periodSeconds: int32(4, { default: 10, minimum: 0, description: 'Seconds between two checks; 10 by default.' }),
  successThreshold: int32(5, {
    default: 1,
    minimum: 0,
    description:
      'Successes in a row after a failure until it counts as successful; 1 by default, and always 1 for liveness and startup.',
  }),
  failureThreshold: int32(6, {
    default: 3,
    minimum: 0,
    description: 'Failures in a row until it counts as failed; 3 by default.',
  }),
  terminationGracePeriodSeconds: int64(7, {
    pointer: true,
    description: 'Seconds that the container has to end after the probe has failed; that of the pod by default.',
  }),
})
export interface Probe extends Infer<typeof probe> {}

export const lifecycleHandler = message('io.k8s.api.core.v1.LifecycleHandler', {
  exec: struct(1, execAction, { pointer: true, description: 'A command in the container.' }),
  httpGet: struct(2, httpGetAction, { pointer: true, description: 'An HTTP request.' }),
  tcpSocket: struct(3, tcpSocketAction, { pointer: true, description: 'Not supported.' }),
  sleep: struct(4, sleepAction, { pointer: true, description: 'A pause.' }),
})
export interface LifecycleHandler extends Infer<typeof lifecycleHandler> {}

export const lifecycle = message('io.k8s.api.core.v1.Lifecycle', {
  postStart: struct(1, lifecycleHandler, {
    pointer: true,
    description: 'Runs right after the start of the container. If it fails, the container is ended.',
  }),
  preStop: struct(2, lifecycleHandler, {
    pointer: true,
    description: 'Runs before the container is ended, within the grace period of the pod.',
  }),
  stopSignal: string(3, {
    pointer: true,
    enum: stopSignals,
    description: 'The signal that ends the container; that of the image, or SIGTERM, by default.',
  }),
})
export interface Lifecycle extends Infer<typeof lifecycle> {}
