// ExtensionProxy: forwards a request to the extension server of its group version, after authentication and authorization.
// The response is streamed. Errors are plain text, as upstream's.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { OutboundExchange, OutboundRequest } from '../../platform/http/outbound.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { joinStreams } from '../../wire/byte-pipe.ts'
import { warningHeaders } from '../http/warning-headers.ts'
import { forwardedHeaders } from '../kubelet-client/forwarded-headers.ts'
import { failureText } from '../outbound/failure-text.ts'
import { presentedSubjectOf } from '../request/call-record.ts'
import { peerProxiedHeader, type Extension } from '../request/extension.ts'
import { userWithName, type ApiRequest } from '../request/request.ts'
import type { ApiResponse } from '../request/response.ts'
import type { ExtensionConnections, ExtensionEndpoint } from './extension-connections.ts'
import { forwardedUri } from './forwarded-uri.ts'
import { remoteUserHeaders } from './remote-user-headers.ts'

export interface ExtensionProxyDeps {
  readonly connections: ExtensionConnections
  readonly flow: FlowRecorder
  /** Called when an extension does not respond, so that its availability is checked again. */
  readonly onFailure: (extension: Extension) => void
}

export class ExtensionProxy {
  readonly #deps: ExtensionProxyDeps

  constructor(deps: ExtensionProxyDeps) {
    this.#deps = deps
  }

  async handle(request: ApiRequest, extension: Extension): Promise<ApiResponse> {
    const { flow, connections } = this.#deps
    const { target, context } = request
    const endpoint = extension.isAvailable ? endpointOf(connections, extension) : undefined
    if (endpoint === undefined) return unavailable(extension)
    const subject = target.kind === 'path' ? undefined : presentedSubjectOf(target, request.body)
    const call = flow.record('call', 'API Server', extension.name, 'forward the request', subject, 0, context.cause)
    try {
      const response = await this.#exchange(request, extension, endpoint.host)
      flow.finish(call, String(response.status))
      return { kind: 'wire', response }
    } catch (error) {
      flow.finish(call, 'failed')
      if (context.signal.aborted) throw error
      this.#deps.onFailure(extension)
      if (extension.peer !== undefined)
        throw new StatusError(
          503,
          'ServiceUnavailable',
          `the API server ${extension.name} does not respond: ${failureText(error)}`,
        )
      return unreachable(extension, `error trying to reach service: ${failureText(error)}`)
    }
  }

  async #exchange(request: ApiRequest, extension: Extension, host: string): Promise<WireResponse> {
    const { target, upgrade, context } = request
    const { connections } = this.#deps
    const outbound = outboundRequest(request, host, extension)
    const isLong = upgrade !== undefined || target.verb === 'watch'
    const answer: OutboundExchange = isLong
      ? await connections.exchange(extension, outbound, context.signal)
      : { kind: 'answer', ...(await connections.send(extension, outbound, context.signal)) }
    if (answer.kind === 'upgraded')
      return {
        status: 101,
        headers: answer.headers,
        body: '',
        onUpgrade: (socket) => joinStreams(socket, answer.stream),
      }
    const { status, headers, body, whole } = answer
    if (status >= 300 && status < 400 && headers['location'] !== undefined) {
      for await (const _ of body) break // closes the response
      return redirected
    }
    // A short body is sent at once, with its length, which takes less time than a stream.
    const isWhole = whole !== undefined && outbound.method !== 'HEAD'
    return { status, headers: { ...uncached, ...forwardedHeaders(headers, false) }, body: isWhole ? whole : body }
  }
}

const uncached = { 'cache-control': 'no-cache, private' }

function endpointOf(connections: ExtensionConnections, extension: Extension): ExtensionEndpoint | undefined {
  try {
    return connections.endpointOf(extension)
  } catch {
    return undefined
  }
}

function outboundRequest(request: ApiRequest, host: string, { peer }: Extension): OutboundRequest {
  const { proxied, origin, user = userWithName('') } = request
  const { method = 'GET', headers = {}, body } = proxied ?? {}
  const target = forwardedUri(proxied?.uri ?? origin?.uri ?? '/')
  const addresses = [headers['x-forwarded-for'], origin?.remoteAddress].filter(
    (each) => each !== undefined && each !== '',
  )
  const queryAt = target.indexOf('?')
  const forwarded: Record<string, string | readonly string[]> = forwardedHeaders(headers, request.upgrade !== undefined)
  if (addresses.length > 0) forwarded['x-forwarded-for'] = addresses.join(', ')
  forwarded['x-forwarded-host'] = host
  forwarded['x-forwarded-proto'] = 'https'
  forwarded['x-forwarded-uri'] = queryAt < 0 ? target : target.slice(0, queryAt)
  if (peer !== undefined) forwarded[peerProxiedHeader] = 'true'
  const sent = Object.assign(forwarded, remoteUserHeaders(user))
  return { method, target, headers: sent, ...(body === undefined || body.length === 0 ? {} : { body }) }
}

/** Not a Status, as upstream's. The warning names the APIService, which the text does not. */
const unreachable = ({ name }: Extension, text: string): ApiResponse => ({
  kind: 'wire',
  response: {
    status: 503,
    headers: {
      ...uncached,
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      warning: warningHeaders([`the server of APIService ${name} is not available`]),
    },
    body: `${text}\n`,
  },
})

const unavailable = (extension: Extension): ApiResponse => unreachable(extension, 'service unavailable')

const redirected: WireResponse = {
  status: 502,
  headers: { ...uncached, 'content-type': 'text/plain; charset=utf-8' },
  body: 'the backend attempted to redirect this request, which is not permitted',
}
