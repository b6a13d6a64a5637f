// DirectKubelets: calls kubelets of this process without a socket, so that thousands of simulated nodes need no ports.
// Other nodes are called through another connection.
import { lookup } from '../../base/collections/lookup.ts'
import { noCause, type Cause } from '../../base/observability/flow-recorder.ts'
import type { ClientCertificate, WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { KubeletCall, KubeletConnection, PodCall } from './kubelet-connection.ts'

export type KubeletHandler = (request: WireRequest, cause: Cause) => Promise<WireResponse>

/** The identity of the API server at kubelets. */
export const kubeletClient = { commonName: 'kube-apiserver-kubelet-client', organizations: [] } as const
const certificate: ClientCertificate = { ...kubeletClient, fingerprint: '', trustedFor: ['users'], validToMs: Infinity }

export class DirectKubelets implements KubeletConnection {
  readonly #handlers = new Map<string, KubeletHandler>()
  readonly #elsewhere: KubeletConnection

  constructor(elsewhere: KubeletConnection) {
    this.#elsewhere = elsewhere
  }

  /** Registers the kubelet of a node until the signal ends it. */
  add(node: string, handler: KubeletHandler, signal: AbortSignal): void {
    this.#handlers.set(node, handler)
    const remove = () => {
      if (this.#handlers.get(node) === handler) this.#handlers.delete(node)
    }
    signal.addEventListener('abort', remove, { once: true })
  }

  callPod(call: PodCall, signal: AbortSignal): Promise<WireResponse> {
    return this.#elsewhere.callPod(call, signal)
  }

  call(call: KubeletCall, signal: AbortSignal): Promise<WireResponse> {
    const handler = this.#handlers.get(call.node)
    if (handler === undefined) return this.#elsewhere.call(call, signal)
    const { method, path: target, headers, body = new Uint8Array(), cause = noCause } = call
    const cancelled = new AbortController()
    const request: WireRequest = {
      method,
      target,
      headers,
      headerValues: (name) => [lookup(headers, name) ?? []].flat(),
      remoteAddress: '',
      certificate,
      signal: AbortSignal.any([signal, cancelled.signal]),
      cancel: (reason) => cancelled.abort(reason),
      upgrade: headers['upgrade'] !== undefined,
      body: () => Promise.resolve(body),
    }
    return handler(request, cause)
  }
}
