// HttpsKubelets: calls kubelets at the addresses that their nodes report, over HTTPS with the API server's client
// certificate; and servers in pods and on nodes, without it.
import { node as nodeKind, type Node } from '../../api/core/v1/node/node.ts'
import { badRequest, notFound, StatusError } from '../../api/errors/status-error.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import {
  AddressNotAllowed,
  Unreachable,
  type OutboundOptions,
  type OutboundProvider,
  type OutboundTls,
} from '../../platform/http/outbound.ts'
import { joinStreams } from '../../wire/byte-pipe.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import type { KubeletCall, KubeletConnection, PodCall } from './kubelet-connection.ts'
import { kubeletAddress } from './node-address.ts'
import { originOf } from './proxy-origin.ts'
import { isProxyableAddress } from './proxyable-address.ts'

export interface HttpsKubeletsDeps {
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly tls: OutboundTls
  readonly findNode: (name: string) => Node | undefined
}

/** The certificates of servers in pods cannot be verified here. */
const anyServer: OutboundTls = { insecureSkipVerify: true }

export class HttpsKubelets implements KubeletConnection {
  readonly #deps: HttpsKubeletsDeps

  constructor(deps: HttpsKubeletsDeps) {
    this.#deps = deps
  }

  async call({ node, isProxied, ...call }: KubeletCall, signal: AbortSignal): Promise<WireResponse> {
    const found = this.#deps.findNode(node)
    if (found === undefined) throw notFound(nodeKind, node)
    const { host, port } = kubeletAddress(found)
    const origin = originOf('https', host, port)
    const { tls } = this.#deps
    if (isProxied)
      return proxied(this.#exchange({ origin, ...call }, { tls, allowsAddress: isProxyableAddress }, signal))
    try {
      return await this.#exchange({ origin, ...call }, { tls }, signal)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      const isUpgrade = call.headers['upgrade'] !== undefined
      const what = isUpgrade
        ? 'error dialing backend'
        : `${goMethod(call.method)} ${JSON.stringify(origin + call.path)}`
      throw new StatusError(500, '', `${what}: ${error.message}`, undefined, { cause: error })
    }
  }

  callPod(call: PodCall, signal: AbortSignal): Promise<WireResponse> {
    return proxied(this.#exchange(call, { tls: anyServer, allowsAddress: isProxyableAddress }, signal))
  }

  async #exchange(
    { origin, host, method, path, headers, body }: PodCall,
    options: Omit<OutboundOptions, 'origin'>,
    signal: AbortSignal,
  ): Promise<WireResponse> {
    const request = {
      method,
      target: path,
      headers: {
        ...forwardedHeaders(headers, headers['upgrade'] !== undefined),
        ...(host === undefined ? {} : { host }),
      },
      ...(body === undefined || body.length === 0 ? {} : { body }),
    }
    const response = await this.#deps.outbound.exchange({ origin, ...options }, request, signal)
    if (response.kind === 'answer') return { ...response, headers: forwardedHeaders(response.headers, false) }
    return {
      status: 101,
      headers: response.headers,
      body: '',
      onUpgrade: (socket) => joinStreams(socket, response.stream),
    }
  }
}

async function proxied(response: Promise<WireResponse>): Promise<WireResponse> {
  try {
    return await response
  } catch (error) {
    if (error instanceof AddressNotAllowed) throw badRequest(error.message)
    if (!(error instanceof Unreachable)) throw error
    const message = `error trying to reach service: ${error.message}`
    throw new StatusError(503, 'ServiceUnavailable', message, undefined, { cause: error })
  }
}

/** As Go's client names it in errors: `Get`. */
const goMethod = (method: string): string => `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`
