// KubeletConnection: how the API server reaches the kubelets for what only they know: logs, streams into containers, and
// their own paths. cluster/ brings the driver; without one every call is refused.
import type { ByteStream } from '../platform/byte-stream.ts'
import type { WireAnswer } from '../platform/listener.ts'
import { StatusError } from '../api/status-error.ts'

export interface KubeletCall {
  readonly node: string
  readonly method: string
  /** As the kubelet's own server has it: `/containerLogs/default/web/nginx?follow=true`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array | undefined
}

export interface KubeletConnection {
  /** Sends a call and hands its answer back as it comes. */
  call(call: KubeletCall, signal: AbortSignal): Promise<WireAnswer>
  /** Opens a stream; the client's socket is handed over once the kubelet has agreed to the protocol. */
  open(call: KubeletCall, signal: AbortSignal): Promise<KubeletStream>
}

export interface KubeletStream {
  /** What the kubelet answered to the request to upgrade. */
  readonly headers: WireAnswer['headers']
  /** Copies bytes both ways until either side ends. */
  join(socket: ByteStream): Promise<void>
}

const unreachable = ({ node }: KubeletCall): Promise<never> =>
  Promise.reject(
    new StatusError(
      503,
      'ServiceUnavailable',
      `error dialing backend: no kubelet of node ${JSON.stringify(node)} answers`,
    ),
  )

export const noKubelets: KubeletConnection = { call: unreachable, open: unreachable }
