// KubeletConnection: calls from the API server to nodes: logs, streams into containers, paths of kubelets and pods.
// cluster/ constructs the driver; without one every call fails.
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { StatusError } from '../../api/errors/status-error.ts'

export interface KubeletCall {
  readonly node: string
  readonly method: string
  /** The path at the kubelet: `/containerLogs/default/web/nginx?follow=true`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array | undefined
  /** A client has chosen the path, so the address of the node must be one that requests may be proxied to. */
  readonly isProxied?: true
  /** The cause under which a kubelet of this process records its events. */
  readonly cause?: Cause
}

/** A proxied call to a server in a pod, or to a port of a node that is not its kubelet. */
export interface PodCall extends Omit<KubeletCall, 'node' | 'isProxied'> {
  /** `http://10.244.0.7:8080` */
  readonly origin: string
  /** The Host header; that of the origin where it is left out. */
  readonly host?: string | undefined
}

export interface KubeletConnection {
  /** Sends a call and streams its response back. Where the kubelet accepts an upgrade, the response has `onUpgrade`. */
  call(call: KubeletCall, signal: AbortSignal): Promise<WireResponse>
  /** The same for a server in a pod, over the pod network. */
  callPod(call: PodCall, signal: AbortSignal): Promise<WireResponse>
}

const unreachable = (where: string): Promise<never> =>
  Promise.reject(new StatusError(503, 'ServiceUnavailable', `error dialing backend: ${where}`))

export const noKubelets: KubeletConnection = {
  call: ({ node }) => unreachable(`no kubelet of node ${JSON.stringify(node)} answers`),
  callPod: ({ origin }) => unreachable(`no way leads to ${origin}`),
}
