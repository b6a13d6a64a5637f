// Client: typed calls on kinds. `client.of(deployment).get('web', 'default', context)` is a Deployment.
import type { Context } from '../base/context.ts'
import type { Kind } from '../api/kind.ts'
import { namespaceOf, type ApiObject } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { ApiCall, CallPatchType, ClientEvent, Transport } from './transport.ts'

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly limit?: number
  readonly continueToken?: string
}

export interface DeleteCallOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  /** Only this very object, and only in this version. */
  readonly uid?: string
  readonly resourceVersion?: string
}

export interface TypedPage<T> {
  readonly items: readonly T[]
  readonly revision: number
  readonly continueToken: string
}

export type TypedEvent<T> =
  | (Omit<Extract<ClientEvent, { object: ApiObject }>, 'object'> & { readonly object: T })
  | Extract<ClientEvent, { type: 'BOOKMARK' }>

export class Client {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  of<T extends ApiObject, Input>(kind: Kind<T, Input>): ResourceClient<T, Input> {
    return new ResourceClient(kind, this.#transport)
  }

  /** Reads names, owners and the like alone; it must not write what it read. */
  metadataOf(kind: Kind): MetadataClient {
    return new ResourceClient<ApiObject, unknown>(kind, this.#transport, 'metadata')
  }

  read(path: string, accept: string, context: Context): Promise<unknown> {
    return this.#transport.read(path, accept, context)
  }
}

export type MetadataClient = Pick<ResourceClient<ApiObject, unknown>, 'get' | 'find' | 'list' | 'watchMany'>

export class ResourceClient<T extends ApiObject, Input> {
  readonly #kind: Kind<T, Input>
  readonly #transport: Transport
  readonly #form: Pick<ApiCall, 'form'>

  constructor(kind: Kind<T, Input>, transport: Transport, form?: 'metadata') {
    this.#kind = kind
    this.#transport = transport
    this.#form = form === undefined ? {} : { form }
  }

  get(name: string, namespace: string, context: Context): Promise<T> {
    return this.#send({ verb: 'get', name, namespace }, context)
  }

  /** Undefined instead of a 404. */
  async find(name: string, namespace: string, context: Context): Promise<T | undefined> {
    try {
      return await this.get(name, namespace, context)
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  create(object: Input, namespace: string, context: Context): Promise<T> {
    return this.#send({ verb: 'create', namespace, body: object }, context)
  }

  update(object: T, context: Context): Promise<T> {
    return this.#send({ verb: 'update', ...placeOf(object), body: object }, context)
  }

  updateStatus(object: T, context: Context): Promise<T> {
    return this.updatePart(object, 'status', context)
  }

  patch(
    name: string,
    namespace: string,
    patch: unknown,
    patchType: CallPatchType,
    context: Context,
    subresource = '',
  ): Promise<T> {
    return this.#send({ verb: 'patch', name, namespace, body: patch, patchType, subresource }, context)
  }

  /** PUT on a subresource, such as a namespace's finalize. */
  updatePart(object: T, subresource: string, context: Context): Promise<T> {
    return this.#send({ verb: 'update', subresource, ...placeOf(object), body: object }, context)
  }

  /** POST on a subresource, such as a pod's binding; what it answers is the subresource's matter. */
  act(name: string, namespace: string, subresource: string, body: unknown, context: Context): Promise<unknown> {
    return this.#send({ verb: 'create', name, namespace, subresource, body }, context)
  }

  async delete(
    name: string,
    namespace: string,
    { uid, resourceVersion, ...options }: DeleteCallOptions,
    context: Context,
  ): Promise<void> {
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    await this.#send({ verb: 'delete', name, namespace, body: { ...options, preconditions } }, context)
  }

  /** Deletes all of a namespace. */
  async deleteAll(
    namespace: string,
    options: Pick<DeleteCallOptions, 'propagationPolicy'>,
    context: Context,
  ): Promise<void> {
    await this.#send({ verb: 'deletecollection', namespace, body: options }, context)
  }

  list(options: ListOptions, context: Context): Promise<TypedPage<T>> {
    const call = this.#call({ verb: 'list', namespace: options.namespace ?? '', query: listQuery(options) })
    return this.#transport.list(call, context) as Promise<TypedPage<T>>
  }

  async *watch(options: ListOptions, context: Context): AsyncIterable<TypedEvent<T>> {
    for await (const events of this.watchMany(options, context)) yield* events
  }

  /** As `watch`, all events that are there at a time. */
  watchMany(options: ListOptions, context: Context): AsyncIterable<readonly TypedEvent<T>[]> {
    const query = { ...listQuery(options), allowWatchBookmarks: 'true' }
    const { kind, namespace, name } = this.#call({ verb: 'list', namespace: options.namespace ?? '' })
    return this.#transport.watch({ kind, namespace, name, query, ...this.#form }, context) as AsyncIterable<
      readonly TypedEvent<T>[]
    >
  }

  #send(call: Partial<ApiCall> & Pick<ApiCall, 'verb'>, context: Context): Promise<T> {
    return this.#transport.send(this.#call(call), context) as Promise<T>
  }

  #call(call: Partial<ApiCall> & Pick<ApiCall, 'verb'>): ApiCall {
    const kind = this.#kind
    return { kind, namespace: '', name: '', subresource: '', query: {}, body: undefined, ...this.#form, ...call }
  }
}

const placeOf = (object: ApiObject) => ({ name: object.metadata.name, namespace: namespaceOf(object) })

function listQuery({
  labelSelector,
  fieldSelector,
  resourceVersion,
  limit,
  continueToken,
}: ListOptions): Record<string, string> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(continueToken === undefined ? {} : { continue: continueToken }),
  }
}
