// DirectTransport: function calls into an API server of this process, through the same filters, without sockets and
// encoding.
import type { Context } from '../../base/observability/context.ts'
import { lazyAsyncIterable } from '../../base/async/lazy-async-iterable.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ApiResponse } from '../../apiserver/request/response.ts'
import { requestTargetOf } from '../../apiserver/routing/request-target.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import type { ApiRequest, Body, Credentials, Target, User } from '../../apiserver/request/request.ts'
import { managerOfSender } from '../../api/meta/field-manager.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { HttpsTransport } from '../../client/transport/https-transport.ts'
import { pathNotFound, StatusError } from '../../api/errors/status-error.ts'
import type { ApiCall, ClientEvent, ListPage, Transport, WatchCall } from '../../client/transport/transport.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { WatchEvent } from '../../apiserver/watch-cache/watch-event.ts'
import { parseJson } from '../../schema/json/exact-json.ts'
import { extensionOutbound } from './extension-outbound.ts'

export type StreamCall = Pick<ApiCall, 'kind' | 'namespace' | 'name' | 'subresource'>

/** Shared by all calls without options; never modified. */
const noQuery = new URLSearchParams()

export class DirectTransport implements Transport {
  readonly #server: () => ApiServer | undefined
  readonly #sender: string
  readonly #agent: string
  readonly #credentials: Credentials
  /** For kinds that extensions serve. */
  readonly #extensions: HttpsTransport

  /** `server` is called for every request, so that a restarted API server is used. */
  constructor(server: () => ApiServer | undefined, sender: string, user: User) {
    this.#server = server
    this.#sender = sender
    this.#agent = managerOfSender(sender)
    this.#credentials = { kind: 'asserted', user }
    const identity = { credentials: this.#credentials, sender, agent: this.#agent }
    this.#extensions = new HttpsTransport(
      extensionOutbound(() => this.#running(), identity),
      sender,
    )
  }

  #running(): ApiServer {
    const server = this.#server()
    if (server === undefined) throw new StatusError(503, 'ServiceUnavailable', 'the API server is not running')
    return server
  }

  #isExtension({ group, version }: Kind): boolean {
    return this.#server()?.extensions.at(group, version) !== undefined
  }

  async read(path: string, accept: string, context: Context): Promise<unknown> {
    const { pathname, searchParams } = new URL(path, 'https://server')
    const server = this.#running()
    const routed = requestTargetOf('GET', pathname, searchParams, accept, server)
    if (routed.extension !== undefined) return this.#extensions.read(path, accept, context)
    const answer = await this.#send(server, routed, searchParams, { kind: 'none' }, context)
    if (answer.kind === 'json') return answer.value
    if (answer.kind === 'object') return answer.object
    if (answer.kind === 'list') return { items: answer.items.map(({ object }) => object) }
    if (answer.kind === 'document' && typeof answer.body === 'string') return parseJson(answer.body)
    throw new StatusError(500, 'InternalError', `a document answered with a ${answer.kind}`)
  }

  async readText(path: string, context: Context): Promise<string> {
    const { pathname, searchParams } = new URL(path, 'https://server')
    const server = this.#running()
    const routed = requestTargetOf('GET', pathname, searchParams, '*/*', server)
    if (routed.extension !== undefined) return this.#extensions.readText(path, context)
    const answer = await this.#send(server, routed, searchParams, { kind: 'none' }, context)
    if (answer.kind === 'text') return answer.text
    if (answer.kind === 'wire') return textOfResponse(answer.response)
    throw new StatusError(500, 'InternalError', `a text answered with a ${answer.kind}`)
  }

  async send(call: ApiCall, context: Context): Promise<unknown> {
    if (this.#isExtension(call.kind)) return this.#extensions.send(call, context)
    const answer = await this.#handle(call, call.verb, context)
    if (answer.kind === 'object') return answer.object
    // The objects are not needed, and some would have to be parsed.
    if (answer.kind === 'list') return undefined
    throw new StatusError(500, 'InternalError', `a call answered with a ${answer.kind}`)
  }

  async list(call: ApiCall, context: Context): Promise<ListPage> {
    if (this.#isExtension(call.kind)) return this.#extensions.list(call, context)
    const answer = await this.#handle(call, 'list', context)
    if (answer.kind !== 'list') throw new StatusError(500, 'InternalError', `a list answered with a ${answer.kind}`)
    return {
      items: answer.items.map(({ object }) => object),
      revision: answer.revision,
      continueToken: answer.continueToken,
    }
  }

  watch(call: WatchCall, context: Context): AsyncIterable<readonly ClientEvent[]> {
    if (this.#isExtension(call.kind)) return this.#extensions.watch(call, context)
    return lazyAsyncIterable(async () => {
      const answer = await this.#handle({ ...call, subresource: '', body: undefined }, 'watch', context)
      if (answer.kind !== 'watch') throw new StatusError(500, 'InternalError', `a watch answered with a ${answer.kind}`)
      return answer.events.mapBatches((events) => events.map(clientEvent))
    })
  }

  /** Opens a stream of an object, such as a pod's log. With headers it requests a protocol upgrade. */
  async stream(
    { kind: resource, namespace, name, subresource }: StreamCall,
    query: URLSearchParams,
    headers: Readonly<Record<string, string>> | undefined,
    context: Context,
  ): Promise<string | WireResponse> {
    const target = { kind: 'resource', verb: 'get', resource, subresource, namespace, name } as const
    const upgrade = headers === undefined ? {} : { upgrade: { headers } }
    const answer = await this.#request(target, query, { kind: 'none' }, context, upgrade)
    if (answer.kind === 'text') return answer.text
    if (answer.kind === 'wire') return answer.response
    throw new StatusError(500, 'InternalError', `a stream answered with a ${answer.kind}`)
  }

  #handle(call: Omit<ApiCall, 'verb'>, verb: ApiCall['verb'] | 'watch', context: Context) {
    const { kind: resource, namespace, name, subresource, query, body, patchType } = call
    return this.#request(
      { kind: 'resource', verb, resource, subresource, namespace, name },
      Object.keys(query).length === 0 ? noQuery : new URLSearchParams(query),
      body === undefined
        ? { kind: 'none' }
        : { kind: 'value', value: body, ...(patchType === undefined ? {} : { patchType }) },
      context,
    )
  }

  #request(
    target: Target,
    query: URLSearchParams,
    body: Body,
    context: Context,
    upgrade: Pick<ApiRequest, 'upgrade'> = {},
  ): MaybePromise<ApiResponse> {
    const server = this.#running()
    return this.#send(server, served(target, server), query, body, context, upgrade)
  }

  #send(
    server: ApiServer,
    routed: Pick<ApiRequest, 'target' | 'rejection'>,
    query: URLSearchParams,
    body: Body,
    context: Context,
    upgrade: Pick<ApiRequest, 'upgrade'> = {},
  ): MaybePromise<ApiResponse> {
    return server.handle({
      ...routed,
      context,
      credentials: this.#credentials,
      user: undefined,
      sender: this.#sender,
      agent: this.#agent,
      query,
      body,
      ...upgrade,
    })
  }
}

/** The body of a response as text. */
export async function textOfResponse({ body }: WireResponse): Promise<string> {
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : 'take' in body ? [] : body
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of pieces) text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
  return text
}

/** The target with the kind that the server has at present: clients know custom kinds only by their names. */
function served(target: Target, { catalogue }: ApiServer): Pick<ApiRequest, 'target' | 'rejection'> {
  if (target.kind === 'path') return { target }
  const resource = catalogue.atPath(target.resource.apiVersion, target.resource.plural)
  if (resource === undefined) return { target: { ...target, isUnserved: true }, rejection: { error: pathNotFound() } }
  return { target: resource === target.resource ? target : { ...target, resource } }
}

function clientEvent(event: WatchEvent): ClientEvent {
  if (event.type === 'ERROR') throw StatusError.fromStatus(event.status, 500)
  if (event.type === 'BOOKMARK') return { type: 'BOOKMARK', revision: event.revision }
  return { type: event.type, object: event.stored.object, cause: event.cause }
}
