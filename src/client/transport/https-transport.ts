// HttpsTransport: calls over HTTPS, for components in another process than the API server.
import { context, type Context } from '../../base/observability/context.ts'
import { causeOf, type Cause, type FlowId, type ReportedEvent } from '../../base/observability/flow-recorder.ts'
import { spanOf } from '../../base/observability/span.ts'
import {
  decisionQueriesPath,
  flowEventsPath,
  senderPrefix,
  traceHeader,
  wokenByHeader,
  type DecisionQuery,
} from '../../api/coxswain/v1/flow-protocol.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { revisionOf, type ApiObject } from '../../api/meta/object.ts'
import { PageNotFound, StatusError } from '../../api/errors/status-error.ts'
import type { Outbound, OutboundResponse } from '../../platform/http/outbound.ts'
import type { ApiCall, ClientEvent, ListPage, Transport, WatchCall } from './transport.ts'
import { jsonText, parseJson } from '../../schema/json/exact-json.ts'

const methods = {
  create: 'POST',
  get: 'GET',
  list: 'GET',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const

const patchTypes = {
  apply: 'application/apply-patch+yaml',
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

/** A watch with a longer line is ended: no object is that large. */
const watchLineCharsMax = 16 << 20

export interface HttpsTransportOptions {
  /** Credentials, such as a bearer token. */
  readonly headers?: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>
  /** Called when the server rejects them (401). */
  readonly onUnauthorized?: () => void
  /** Separate connections for watches: a watch occupies its connection for long, and calls must not wait for it. */
  readonly watches?: Outbound
  /** The name of this process's flow record. Requests carry the span of the event in it that caused them. */
  readonly record?: string
}

export class HttpsTransport implements Transport {
  readonly #outbound: Outbound
  readonly #sender: string
  readonly #options: HttpsTransportOptions

  /** `sender` is the name of this component in the server's flow record. */
  constructor(outbound: Outbound, sender: string, options: HttpsTransportOptions = {}) {
    this.#outbound = outbound
    this.#sender = sender
    this.#options = options
  }

  async read(path: string, accept: string, ctx: Context): Promise<unknown> {
    return parseJson(await textOf(await this.#request('GET', path, accept, undefined, '', ctx)))
  }

  async readText(path: string, ctx: Context): Promise<string> {
    return textOf(await this.#request('GET', path, '*/*', undefined, '', ctx))
  }

  async send(call: ApiCall, ctx: Context): Promise<unknown> {
    const object = await this.#send(call, ctx)
    return call.form === undefined ? object : typed(object as ApiObject, call.kind)
  }

  async list(call: ApiCall, ctx: Context): Promise<ListPage> {
    const list = (await this.#send(call, ctx)) as {
      items?: ApiObject[]
      metadata: { resourceVersion: string; continue?: string }
    }
    return {
      items: (list.items ?? []).map((item) => typed(item, call.kind)),
      revision: Number(list.metadata.resourceVersion),
      continueToken: list.metadata.continue ?? '',
    }
  }

  async *watch(call: WatchCall, ctx: Context): AsyncIterable<readonly ClientEvent[]> {
    const query = { ...call.query, watch: 'true' }
    const target = pathOf({ ...call, query, subresource: '' })
    const answer = await this.#request('GET', target, acceptOf(call), undefined, '', ctx, this.#options.watches)
    for await (const lines of linesOf(answer.body)) {
      const events: ClientEvent[] = []
      for (const line of lines) {
        const { type, object } = parseJson(line) as { type: ClientEvent['type'] | 'ERROR'; object: ApiObject }
        if (type === 'ERROR') {
          yield events
          throw StatusError.fromStatus(object, 500)
        }
        events.push(
          type === 'BOOKMARK'
            ? { type, revision: revisionOf(object) }
            : {
                type,
                object: call.form === undefined ? object : typed(object, call.kind),
                cause: causeOf(0 as FlowId, revisionOf(object)),
              },
        )
      }
      yield events
    }
  }

  /** Sends flow events of this process to the server. */
  async sendFlowEvents(events: readonly ReportedEvent[], signal: AbortSignal): Promise<void> {
    const answer = await this.#request(
      'POST',
      flowEventsPath,
      plainAccept,
      { events },
      'application/json',
      context(signal),
    )
    await textOf(answer)
  }

  /** Decision queries from the server, until the connection ends. */
  async *decisionQueries(signal: AbortSignal): AsyncGenerator<DecisionQuery> {
    const outbound = this.#options.watches
    const answer = await this.#request(
      'GET',
      decisionQueriesPath,
      plainAccept,
      undefined,
      '',
      context(signal),
      outbound,
    )
    for await (const lines of linesOf(answer.body))
      for (const line of lines) if (line !== '') yield JSON.parse(line) as DecisionQuery
  }

  async sendDecision(id: number, explanation: object | undefined, signal: AbortSignal): Promise<void> {
    const body = { id, explanation: explanation ?? null }
    const type = 'application/json'
    await textOf(await this.#request('POST', decisionQueriesPath, plainAccept, body, type, context(signal)))
  }

  async #send(call: ApiCall, ctx: Context): Promise<unknown> {
    const method = methods[call.verb]
    const answer = await this.#request(method, pathOf(call), acceptOf(call), call.body, contentType(call), ctx)
    return parseJson(await textOf(answer))
  }

  async #request(
    method: string,
    target: string,
    accept: string,
    body: unknown,
    contentType: string,
    { signal, cause }: Context,
    outbound = this.#outbound,
  ): Promise<OutboundResponse> {
    const headers = {
      accept,
      'user-agent': senderPrefix + this.#sender,
      ...this.#causeHeaders(cause),
      ...(await this.#options.headers?.(signal)),
    }
    const answer = await outbound.send(
      body === undefined
        ? { method, target, headers }
        : { method, target, headers: { ...headers, 'content-type': contentType }, body: jsonText(body) },
      signal,
    )
    if (answer.status < 300) return answer
    if (answer.status === 401) this.#options.onUnauthorized?.()
    throw statusErrorFrom(answer.status, await textOf(answer))
  }

  #causeHeaders({ event, revisions }: Cause): Record<string, string> {
    const { record } = this.#options
    return {
      ...(revisions.length === 0 ? {} : { [wokenByHeader]: revisions.join(',') }),
      ...(record === undefined || event === 0 ? {} : { [traceHeader]: spanOf(record, event) }),
    }
  }
}

/** Items of lists have no kind, and PartialObjectMetadata has its own. */
const typed = (object: ApiObject, { apiVersion, kind }: Kind): ApiObject => ({ ...object, apiVersion, kind })

const plainAccept = 'application/json'
const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

function acceptOf({ form, verb }: Pick<ApiCall, 'form'> & { readonly verb?: ApiCall['verb'] }): string {
  if (form === undefined) return plainAccept
  return verb === 'list' ? metadataListAccept : metadataAccept
}

const contentType = ({ patchType }: ApiCall): string =>
  patchType === undefined ? 'application/json' : patchTypes[patchType]

/** Throws, with client-go's messages, for names that would be another path. */
export function pathOf({ kind, namespace, name, subresource, query }: Omit<ApiCall, 'verb' | 'body'>): string {
  for (const [what, text] of [
    ['resource name', name],
    ['namespace', namespace],
  ] as const)
    if (text === '.' || text === '..') throw new Error(`invalid ${what} "${text}": [may not be '${text}']`)
  const parts = [
    rootOf(kind),
    ...(namespace === '' || !kind.namespaced ? [] : ['namespaces', namespace]),
    kind.plural,
    name,
    subresource,
  ]
  const path = `/${parts
    .filter((part) => part !== '')
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join('/')}`
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

const rootOf = ({ group, version }: Kind): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`)

async function textOf({ body }: OutboundResponse): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) text += decoder.decode(piece, { stream: true })
  return text
}

/** The error of a response: its Status, or its text. */
function statusErrorFrom(status: number, text: string): StatusError {
  try {
    return StatusError.fromStatus(JSON.parse(text) as object, status)
  } catch {
    const page = new PageNotFound()
    if (status === page.code && text.trim() === page.message) return page
    return new StatusError(status, 'InternalError', `the server responded with ${status}: ${text.slice(0, 200)}`)
  }
}

/** Yields the lines that each chunk completes. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<readonly string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    if (rest.length > watchLineCharsMax) throw new Error(`a line of the watch exceeds ${watchLineCharsMax} characters`)
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    const whole = lines.filter((line) => line !== '')
    if (whole.length > 0) yield whole
  }
}
