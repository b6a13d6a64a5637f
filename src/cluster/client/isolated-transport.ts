// IsolatedTransport: the transport of clients outside of the cluster, such as a test or an operator. They share no
// mutable object with an API server in the same process: requests are copied and responses frozen. Components treat
// objects as immutable and do not need it.
import type { Context } from '../../base/observability/context.ts'
import { deepFreeze } from '../../base/collections/deep-freeze.ts'
import { jsonCopy } from '../../base/collections/json-copy.ts'
import { PageNotFound, pathNotFound, StatusError } from '../../api/errors/status-error.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ApiCall, ClientEvent, ListPage, Transport, WatchCall } from '../../client/transport/transport.ts'

/** Waits for a call, while the cluster's time advances. */
export type AwaitCall = <T>(call: Promise<T>, what: string) => Promise<T>

export interface IsolatedTransportOptions {
  readonly awaitCall: AwaitCall
  /** Called with the objects that a call has read. */
  readonly onRead: (objects: readonly ApiObject[]) => void
}

export class IsolatedTransport implements Transport {
  readonly #inner: Transport
  readonly #await: AwaitCall
  readonly #onRead: IsolatedTransportOptions['onRead']

  constructor(inner: Transport, { awaitCall, onRead }: IsolatedTransportOptions) {
    this.#inner = inner
    this.#await = awaitCall
    this.#onRead = onRead
  }

  async read(path: string, accept: string, context: Context): Promise<unknown> {
    return deepFreeze(await this.#await(this.#inner.read(path, accept, context), `read ${path}`))
  }

  readText(path: string, context: Context): Promise<string> {
    return this.#await(this.#inner.readText(path, context), `read ${path}`)
  }

  async send(call: ApiCall, context: Context): Promise<unknown> {
    const copied = call.body === undefined ? call : { ...call, body: jsonCopy(call.body) }
    const answer = deepFreeze(await this.#call(this.#inner.send(copied, context), call))
    if (call.verb === 'get') this.#onRead([answer as ApiObject])
    return answer
  }

  async list(call: ApiCall, context: Context): Promise<ListPage> {
    const page = deepFreeze(await this.#call(this.#inner.list(call, context), call))
    this.#onRead(page.items)
    return page
  }

  async #call<T>(work: Promise<T>, call: ApiCall): Promise<T> {
    try {
      return await this.#await(work, describe(call))
    } catch (error) {
      throw isUnserved(error) ? namingResource(error, call) : error
    }
  }

  async *watch(call: WatchCall, context: Context): AsyncIterable<readonly ClientEvent[]> {
    for await (const events of this.#inner.watch(call, context)) yield deepFreeze(events)
  }
}

const describe = ({ verb, kind, subresource, name }: ApiCall): string =>
  `${verb} ${kind.plural}${subresource === '' ? '' : `/${subresource}`} ${name}`.trimEnd()

const unservedText = pathNotFound().message

const isUnserved = (error: unknown): error is StatusError =>
  error instanceof PageNotFound ||
  (error instanceof StatusError && error.code === 404 && error.message === unservedText)

/** The server's message does not say which resource it does not serve; Go's client adds it in this form. */
const namingResource = ({ code, reason }: StatusError, { verb, kind }: ApiCall): StatusError =>
  new StatusError(
    code,
    reason,
    `${unservedText} (${verb} ${kind.plural}${kind.group === '' ? '' : `.${kind.group}`})`,
    {},
  )
