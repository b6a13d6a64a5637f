// Client: typed API calls. `client.of(deployment).get('web')` returns a Deployment. The namespace defaults to
// `default`; a call without a context cannot be cancelled.
import { context as contextOf, type Context } from '../base/observability/context.ts'
import type { Cause } from '../base/observability/flow-recorder.ts'
import { checkKind } from '../api/kind/check-kind.ts'
import type { Kind, ResourceType } from '../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Mutable } from './mutable.ts'
import type { ApiCall, CallPatchType, Transport } from './transport/transport.ts'

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
  /** Preconditions: the uid and the version that the object must have. */
  readonly uid?: string
  readonly resourceVersion?: string
}

export interface ApplyOptions {
  /** The owner of the applied fields; `coxswain` when left out. */
  readonly fieldManager?: string
  /** Takes fields over from other managers instead of failing with a conflict. */
  readonly force?: boolean
  /** The namespace of objects that do not name one; `default` when left out. */
  readonly namespace?: string
  /** What happens with unknown and duplicate fields; `Warn` when left out, as in upstream. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
}

export interface TypedPage<T> {
  readonly items: readonly T[]
  readonly revision: number
  readonly continueToken: string
}

export type TypedEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly cause: Cause }
  | { readonly type: 'BOOKMARK'; readonly revision: number }

export class Client {
  readonly #transport: Transport

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport
  }

  of<T extends ApiObject, Input>(kind: ResourceType<T, Input>): ResourceClient<T, Input> {
    checkKind('client.of', kind)
    return new ResourceClient(kind as Kind<T, Input>, this.#transport)
  }

  /** Reads only the metadata of objects, which must not be written back. @internal */
  metadataOf(kind: Kind): MetadataClient {
    return new ResourceClient<ApiObject, unknown>(kind, this.#transport, 'metadata')
  }

  /** Reads a path of the server: a document such as `/version`, or objects of an API that has no kind here. */
  read(path: string, accept = 'application/json', context: Context = newContext()): Promise<unknown> {
    return this.#transport.read(path, accept, context)
  }

  /** Reads a path of the server as text, such as a pod's log. */
  readText(path: string, context: Context = newContext()): Promise<string> {
    return this.#transport.readText(path, context)
  }
}

export type MetadataClient = Pick<ResourceClient<ApiObject, unknown>, 'get' | 'find' | 'list' | 'watchBatches'>

export class ResourceClient<T extends ApiObject, Input> {
  readonly #kind: Kind<T, Input>
  readonly #transport: Transport
  readonly #form: Pick<ApiCall, 'form'>

  /** @internal */
  constructor(kind: Kind<T, Input>, transport: Transport, form?: 'metadata') {
    this.#kind = kind
    this.#transport = transport
    this.#form = form === undefined ? {} : { form }
  }

  get(name: string, context?: Context): Promise<T>
  get(name: string, namespace: string, context?: Context): Promise<T>
  get(name: string, place?: string | Context, context?: Context): Promise<T> {
    return this.#send({ verb: 'get', name, namespace: this.#namespace(place) }, contextIn(place, context))
  }

  /** Undefined instead of a 404. */
  find(name: string, context?: Context): Promise<T | undefined>
  find(name: string, namespace: string, context?: Context): Promise<T | undefined>
  async find(name: string, place?: string | Context, context?: Context): Promise<T | undefined> {
    try {
      return await this.get(name, this.#namespace(place), contextIn(place, context))
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** Creates the object in the given namespace, or in the one that it names. */
  create(object: Input, context?: Context): Promise<T>
  create(object: Input, namespace: string, context?: Context): Promise<T>
  create(object: Input, place?: string | Context, context?: Context): Promise<T> {
    const namespace = this.#namespace(place, object)
    return this.#send({ verb: 'create', namespace, body: this.#typed(object) }, contextIn(place, context))
  }

  update(object: T, context?: Context): Promise<T> {
    return this.#send({ verb: 'update', ...placeOf(object), body: object }, context)
  }

  updateStatus(object: T, context?: Context): Promise<T> {
    return this.updateSubresource(object, 'status', context)
  }

  /** Reads the object, applies `change` to a copy, and updates it; repeated after a conflict. */
  modify(name: string, change: (copy: Mutable<T>) => void, context?: Context): Promise<T>
  modify(name: string, namespace: string, change: (copy: Mutable<T>) => void, context?: Context): Promise<T>
  async modify(name: string, ...rest: readonly unknown[]): Promise<T> {
    const [namespace, change, context] = (typeof rest[0] === 'string' ? rest : [this.#namespace(), ...rest]) as [
      string,
      (copy: Mutable<T>) => void,
      Context | undefined,
    ]
    for (let attempt = 1; ; attempt++) {
      const copy = structuredClone(await this.get(name, namespace, context)) as Mutable<T>
      change(copy)
      try {
        return await this.update(copy as T, context)
      } catch (error) {
        if (!hasReason(error, 'Conflict') || attempt === modifyAttemptsMax) throw error
      }
    }
  }

  /** Server-side apply: creates the object, or sets the given fields, and becomes their manager. */
  apply(object: Input, options: ApplyOptions = {}, context?: Context): Promise<T> {
    const { fieldManager = 'coxswain', force = false, fieldValidation } = options
    const { name = '' } = (object as { readonly metadata?: { readonly name?: string } }).metadata ?? {}
    const namespace = this.#namespace(undefined, object, options.namespace)
    const query = {
      fieldManager,
      ...(force ? { force: 'true' } : {}),
      ...(fieldValidation === undefined ? {} : { fieldValidation }),
    }
    const body = this.#typed(object)
    return this.#send({ verb: 'patch', patchType: 'apply', name, namespace, query, body }, context)
  }

  /** By default a list is a JSON patch, and an object a strategic merge patch, or a merge patch of a custom resource. */
  patch(name: string, patch: object, patchType?: CallPatchType, context?: Context, subresource?: string): Promise<T>
  patch(
    name: string,
    namespace: string,
    patch: unknown,
    patchType?: CallPatchType,
    context?: Context,
    subresource?: string,
  ): Promise<T>
  patch(name: string, ...rest: readonly unknown[]): Promise<T> {
    const [namespace, patch, type, context, subresource = ''] = (
      typeof rest[0] === 'string' ? rest : [this.#namespace(), ...rest]
    ) as [string, unknown, CallPatchType?, Context?, string?]
    const patchType = type ?? (Array.isArray(patch) ? 'json' : this.#kind.isCustom ? 'merge' : 'strategic')
    return this.#send({ verb: 'patch', name, namespace, body: patch, patchType, subresource }, context)
  }

  /** GET on a subresource; the response depends on the subresource. */
  getSubresource(name: string, namespace: string, subresource: string, context?: Context): Promise<unknown> {
    return this.#send({ verb: 'get', name, namespace, subresource }, context)
  }

  /** PUT on a subresource, such as a namespace's finalize. */
  updateSubresource(object: T, subresource: string, context?: Context): Promise<T> {
    return this.#send({ verb: 'update', subresource, ...placeOf(object), body: object }, context)
  }

  /** POST on a subresource, such as a pod's binding; the response depends on the subresource. */
  createSubresource(
    name: string,
    namespace: string,
    subresource: string,
    body: unknown,
    context?: Context,
  ): Promise<unknown> {
    return this.#send({ verb: 'create', name, namespace, subresource, body }, context)
  }

  delete(name: string, options?: DeleteCallOptions, context?: Context): Promise<void>
  delete(name: string, namespace: string, options?: DeleteCallOptions, context?: Context): Promise<void>
  async delete(name: string, ...rest: readonly unknown[]): Promise<void> {
    const [namespace, options = {}, context] = (typeof rest[0] === 'string' ? rest : [this.#namespace(), ...rest]) as [
      string,
      DeleteCallOptions?,
      Context?,
    ]
    const { uid, resourceVersion, ...others } = options
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    await this.#send({ verb: 'delete', name, namespace, body: { ...others, preconditions } }, context)
  }

  /** Deletes all objects of the kind in a namespace. */
  async deleteAll(
    namespace: string,
    options: Pick<DeleteCallOptions, 'propagationPolicy'> = {},
    context?: Context,
  ): Promise<void> {
    await this.#send({ verb: 'deletecollection', namespace, body: options }, context)
  }

  /** Lists all namespaces unless one is given. */
  list(options: ListOptions = {}, context: Context = newContext()): Promise<TypedPage<T>> {
    const call = this.#call({ verb: 'list', namespace: options.namespace ?? '', query: listQuery(options) })
    return this.#transport.list(call, context) as Promise<TypedPage<T>>
  }

  async *watch(options: ListOptions = {}, context: Context = newContext()): AsyncIterable<TypedEvent<T>> {
    for await (const events of this.watchBatches(options, context)) yield* events
  }

  /** As `watch`, with all available events at a time. */
  watchBatches(options: ListOptions = {}, context: Context = newContext()): AsyncIterable<readonly TypedEvent<T>[]> {
    const query = { ...listQuery(options), allowWatchBookmarks: 'true' }
    const { kind, namespace, name } = this.#call({ verb: 'list', namespace: options.namespace ?? '' })
    return this.#transport.watch({ kind, namespace, name, query, ...this.#form }, context) as AsyncIterable<
      readonly TypedEvent<T>[]
    >
  }

  /** The given namespace, the object's, or the default. */
  #namespace(place?: string | Context, object?: unknown, usual = 'default'): string {
    if (typeof place === 'string') return place
    if (!this.#kind.namespaced) return ''
    return (object as { readonly metadata?: { readonly namespace?: string } } | undefined)?.metadata?.namespace ?? usual
  }

  /** The object with its type, which inputs may leave out. */
  #typed(object: Input): object {
    const { apiVersion, kind } = this.#kind
    return { apiVersion, kind, ...(object as object) }
  }

  #send(call: Partial<ApiCall> & Pick<ApiCall, 'verb'>, context: Context = newContext()): Promise<T> {
    return this.#transport.send(this.#call(call), context) as Promise<T>
  }

  #call(call: Partial<ApiCall> & Pick<ApiCall, 'verb'>): ApiCall {
    const kind = this.#kind
    return { kind, namespace: '', name: '', subresource: '', query: {}, body: undefined, ...this.#form, ...call }
  }
}

/** Bounds the retries of `modify` after conflicts. */
const modifyAttemptsMax = 10

const newContext = (): Context => contextOf(new AbortController().signal)

const contextIn = (place: string | Context | undefined, context: Context | undefined): Context | undefined =>
  typeof place === 'object' ? place : context

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
