// HttpsKubelets: kubelets at the addresses that their nodes report, over HTTPS with the API server's own certificate.
import { node as nodeKind, type Node } from '../api/core/v1/node.ts'
import { notFound, StatusError } from '../api/status-error.ts'
import type { WireAnswer } from '../platform/listener.ts'
import { Unreachable, type OutboundProvider, type OutboundTls } from '../platform/outbound.ts'
import { join } from '../wire/byte-pipe.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import type { KubeletCall, KubeletConnection, PodCall } from './kubelet-connection.ts'

export interface HttpsKubeletsParts {
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly tls: OutboundTls
  readonly findNode: (name: string) => Node | undefined
}

const addressTypes = ['InternalIP', 'ExternalIP', 'Hostname']
const portDefault = 10_250

export class HttpsKubelets implements KubeletConnection {
  readonly #parts: HttpsKubeletsParts

  constructor(parts: HttpsKubeletsParts) {
    this.#parts = parts
  }

  async call({ node, ...call }: KubeletCall, signal: AbortSignal): Promise<WireAnswer> {
    const found = this.#parts.findNode(node)
    if (found === undefined) throw notFound(nodeKind, node)
    const origin = originOf(found)
    try {
      return await this.#exchange({ origin, ...call }, this.#parts.tls, signal)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      const isUpgrade = call.headers['upgrade'] !== undefined
      const what = isUpgrade
        ? 'error dialing backend'
        : `${goMethod(call.method)} ${JSON.stringify(origin + call.path)}`
      throw new StatusError(500, '', `${what}: ${error.message}`, undefined, { cause: error })
    }
  }

  async callPod(call: PodCall, signal: AbortSignal): Promise<WireAnswer> {
    try {
      return await this.#exchange(call, {}, signal)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      const message = `error trying to reach service: ${error.message}`
      throw new StatusError(503, 'ServiceUnavailable', message, undefined, { cause: error })
    }
  }

  async #exchange(
    { origin, method, path, headers, body }: PodCall,
    tls: OutboundTls,
    signal: AbortSignal,
  ): Promise<WireAnswer> {
    const request = {
      method,
      target: path,
      headers: forwardedHeaders(headers, headers['upgrade'] !== undefined),
      ...(body === undefined || body.length === 0 ? {} : { body }),
    }
    const answer = await this.#parts.outbound.exchange({ origin, tls }, request, signal)
    if (answer.kind === 'answer') return { ...answer, headers: forwardedHeaders(answer.headers, false) }
    return { status: 101, headers: answer.headers, body: '', takeOver: (socket) => join(socket, answer.stream) }
  }
}

function originOf({ metadata, status }: Node): string {
  const addresses = status?.addresses ?? []
  const preferred = addressTypes.map((type) => addresses.find((address) => address.type === type)?.address)
  const host = preferred.find((address) => address !== undefined && address !== '')
  if (host === undefined)
    throw new StatusError(500, '', `no preferred addresses found of node ${JSON.stringify(metadata.name)}`)
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port || portDefault
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** As Go's client names it in errors: `Get`. */
const goMethod = (method: string): string => `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`
