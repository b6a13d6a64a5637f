// KubeletConnection: how the API server reaches the nodes for what only they know: logs, streams into containers, paths of
// kubelets and of pods. cluster/ brings the driver; without one every call is refused.
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { StatusError } from '../../api/errors/status-error.ts'

export interface KubeletCall {
  readonly node: string
  readonly method: string
  /** As the kubelet's own server has it: `/containerLogs/default/web/nginx?follow=true`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array | undefined
  /** The client has chosen the path: the node's address must be one that clients may be passed on to. */
  readonly isProxied?: true
  /** What led to it: a kubelet of this process records under it what it does. */
  readonly cause?: Cause
}

/** A call to a server in a pod or on a node that is not its kubelet, which the API server passes on. */
export interface PodCall extends Omit<KubeletCall, 'node' | 'isProxied'> {
  /** `http://10.244.0.7:8080` */
  readonly origin: string
}

export interface KubeletConnection {
  /**
   * Sends a call and hands its answer back as it comes. A call that asks to leave HTTP, and whose kubelet agrees, is
   * answered with `takeOver`.
   */
  call(call: KubeletCall, signal: AbortSignal): Promise<WireResponse>
  /** The same to a server in a pod, over the nodes' network. */
  callPod(call: PodCall, signal: AbortSignal): Promise<WireResponse>
}

const unreachable = (where: string): Promise<never> =>
  Promise.reject(new StatusError(503, 'ServiceUnavailable', `error dialing backend: ${where}`))

export const noKubelets: KubeletConnection = {
  call: ({ node }) => unreachable(`no kubelet of node ${JSON.stringify(node)} answers`),
  callPod: ({ origin }) => unreachable(`no way leads to ${origin}`),
}
