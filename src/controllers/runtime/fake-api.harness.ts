// FakeApi: an API in memory that serves the kinds of a test, with discovery, finalizers and watches; for controllers
// that take their kinds from discovery.
import { Channel } from '../../base/async/channel.ts'
import type { Context } from '../../base/observability/context.ts'
import { causeOf, FlowRecorder, type FlowId } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { bareKind } from '../../api/kind/bare-kind.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { isBeingDeleted, keyOf, namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { ObjectMeta } from '../../api/meta/v1/object-meta.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { ApiCall, ClientEvent, ListPage, Transport, WatchCall } from '../../client/transport/transport.ts'
import type { Controller } from './controller.ts'
import { controllerMetrics, startController } from './start-controller.ts'

export const kindNamed = (group: string, version: string, kind: string, namespaced = true): Kind =>
  bareKind({ group, version, kind, namespaced, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() })

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const watchEventsMax = 1_000
const idOf = ({ group, plural }: Pick<Kind, 'group' | 'plural'>) => `${plural}.${group}`
const notFound = (name: string) => new StatusError(404, 'NotFound', `${name} not found`)

export class FakeApi implements Transport {
  readonly #objects = new Map<string, ApiObject>()
  readonly #watches = new Set<{ of: string; events: Channel<ClientEvent> }>()
  /** In order of version preference. */
  readonly served: { kind: Kind; verbs?: readonly string[] }[] = []
  /** Group versions that discovery reports as stale. */
  readonly stale = new Set<string>()
  /** The requests: `delete Widget a`. */
  readonly requests: string[] = []
  isDown = false
  #revision = 1

  add(
    kind: Kind,
    metadata: Partial<ObjectMeta> & { readonly name: string },
    namespace = 'default',
    body: object = {},
  ): ApiObject {
    const place = kind.namespaced ? { namespace } : {}
    const uid = metadata.uid ?? `uid-${++this.#revision}`
    return this.#put(kind, {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { ...place, creationTimestamp: '', resourceVersion: '', ...metadata, uid },
      ...body,
    })
  }

  /** The names of the objects; those being deleted have a star: `a b*`. */
  names(kind: Kind): string {
    return this.#of(kind)
      .map((object) => `${object.metadata.name}${isBeingDeleted(object) ? '*' : ''}`)
      .join(' ')
  }

  find(kind: Kind, name: string, namespace = 'default'): ApiObject | undefined {
    return this.#objects.get(`${idOf(kind)} ${objectKey(kind.namespaced ? namespace : '', name)}`)
  }

  readText(path: string): Promise<string> {
    return Promise.reject(new Error(`${path} is not text`))
  }

  read(path: string): Promise<unknown> {
    if (this.isDown) return Promise.reject(new StatusError(503, 'ServiceUnavailable', 'the server is down'))
    const groups = Map.groupBy(this.served, ({ kind }) => kind.group)
    const items = [...groups]
      .filter(([group]) => (group === '') === (path === '/api'))
      .map(([group, served]) => ({ metadata: { name: group }, versions: this.#versions(served) }))
    return Promise.resolve({ items })
  }

  async send(call: ApiCall): Promise<unknown> {
    const { kind, name, namespace, verb, body } = call
    if (verb === 'deletecollection') return this.#deleteAll(call)
    this.requests.push(`${verb} ${kind.kind} ${name}`)
    const object = this.find(kind, name, namespace)
    if (object === undefined) throw notFound(name)
    switch (verb) {
      case 'get':
        return object
      case 'delete':
        return this.#delete(kind, object, body as { propagationPolicy?: string })
      case 'patch':
        return this.#patch(kind, object, body as { metadata: Partial<ObjectMeta> })
      case 'update':
        return this.#put(kind, body as ApiObject)
      default:
        throw new Error(`${verb} is not for this API`)
    }
  }

  async list({ kind, namespace }: ApiCall): Promise<ListPage> {
    return { items: this.#in(kind, namespace), revision: this.#revision, continueToken: '' }
  }

  #deleteAll({ kind, namespace, verb }: ApiCall): void {
    this.requests.push(`${verb} ${kind.kind}`)
    for (const object of this.#in(kind, namespace)) this.#delete(kind, object, {})
  }

  #in(kind: Kind, namespace: string): ApiObject[] {
    return this.#of(kind).filter((object) => namespace === '' || namespaceOf(object) === namespace)
  }

  async *watch({ kind }: WatchCall, { signal }: Context): AsyncIterable<readonly ClientEvent[]> {
    const events = new Channel<ClientEvent>(watchEventsMax)
    signal.addEventListener('abort', () => events.end(), { once: true })
    this.#watches.add({ of: idOf(kind), events })
    for await (const event of events) yield [event]
  }

  #versions(served: readonly { kind: Kind; verbs?: readonly string[] }[]): object[] {
    return [...Map.groupBy(served, ({ kind }) => kind.version)].map(([version, of]) => {
      const isStale = this.stale.has(of[0]?.kind.apiVersion ?? '')
      const resources = of.map(({ kind, verbs = allVerbs }) => ({
        resource: kind.plural,
        responseKind: { group: '', version: '', kind: kind.kind },
        scope: kind.namespaced ? 'Namespaced' : 'Cluster',
        verbs,
      }))
      return { version, freshness: isStale ? 'Stale' : 'Current', resources: isStale ? [] : resources }
    })
  }

  #of(kind: Kind): ApiObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${idOf(kind)} `)).map(([, object]) => object)
  }

  #delete(kind: Kind, object: ApiObject, { propagationPolicy }: { propagationPolicy?: string }): ApiObject {
    const requests = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'] }[propagationPolicy ?? ''] ?? []
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...requests])]
    return this.#put(kind, { ...object, metadata: { ...object.metadata, finalizers, deletionTimestamp: 'now' } })
  }

  #patch(kind: Kind, object: ApiObject, { metadata }: { metadata: Partial<ObjectMeta> }): ApiObject {
    const { uid, resourceVersion, ...part } = metadata
    if (resourceVersion !== object.metadata.resourceVersion || uid !== object.metadata.uid)
      throw new StatusError(409, 'Conflict', 'the object has been modified')
    const merged = Object.entries({ ...object.metadata, ...part }).filter(([, value]) => value !== null)
    return this.#put(kind, { ...object, metadata: Object.fromEntries(merged) as unknown as ObjectMeta })
  }

  /** Removes an object that is being deleted and has no finalizers. */
  #put(kind: Kind, object: ApiObject): ApiObject {
    const key = `${idOf(kind)} ${keyOf(object)}`
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } }
    const isGone = isBeingDeleted(stored) && (stored.metadata.finalizers ?? []).length === 0
    const type = isGone ? 'DELETED' : this.#objects.has(key) ? 'MODIFIED' : 'ADDED'
    if (isGone) this.#objects.delete(key)
    else this.#objects.set(key, stored)
    for (const { of, events } of this.#watches)
      if (of === idOf(kind)) events.push({ type, object: stored, cause: causeOf(0 as FlowId, this.#revision) })
    return stored
  }
}

/** Runs one controller with the API. */
export function start(controller: Controller, api: FakeApi, startMs?: number) {
  const clock = new VirtualClock(startMs)
  const tasks = new TaskGroup()
  const client = new Client(api)
  const metrics = new Metrics()
  const deps = {
    client,
    clock,
    log: silentLog,
    random: seededRandom(1),
    flow: new FlowRecorder(clock),
    settings: {},
    informers: new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks),
    metrics: controllerMetrics(metrics),
  }
  startController(controller, deps, tasks)
  return {
    metrics,
    settle: (duration: string | number = '10s') => clock.advance(duration),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
    },
  }
}
