// runController(): reconciles the objects of a kind whenever they, or what they depend on, have changed. The runtime is that
// of the cluster's own controllers, and works with a test's cluster as with any other one.
import { hostname } from 'node:os'
import { checkProperties, checkWhole, shownArgument } from '../../base/check-arguments.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText, silentLog } from '../../base/observability/log.ts'
import { newUid } from '../../base/random/ids.ts'
import { seededRandom, systemRandom } from '../../base/random/random.ts'
import { durationMs, realClock, type Clock } from '../../base/time/clock.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import { controllerOf, objectKey, splitKey, type ApiObject } from '../../api/meta/object.ts'
import type { Client, ListOptions } from '../../client/client.ts'
import { Informer } from '../../client/informer/informer.ts'
import { LeaderElection } from '../../client/leader-election.ts'
import { Reconciler } from '../../client/reconcile/reconciler.ts'

export interface ObjectName {
  /** Empty for objects without one. */
  readonly namespace: string
  readonly name: string
}

/** A kind whose changes lead to reconciles of other objects; `watched` makes one. */
export interface WatchedKind {
  readonly kind: ResourceType
  readonly namesOf: (object: ApiObject) => readonly ObjectName[]
}

/** The objects of a kind as the controller has seen them last: a write may not be there yet. */
export interface CachedObjects<T> {
  /** The namespace is that of the reconciled object by default. */
  get(name: string, namespace?: string): T | undefined
  /** In one namespace, or in all. */
  list(namespace?: string): readonly T[]
}

export interface ReconcileRequest<T> extends ObjectName {
  /** The object as it was seen last; undefined once it is deleted. */
  readonly object: T | undefined
  /** For calls, which it cancels when the controller stops. */
  readonly context: Context
  /** The objects of a kind that is reconciled, owned or watched. */
  cached<U extends ApiObject>(kind: ResourceType<U>): CachedObjects<U>
}

/** When the object is reconciled again, even if nothing changes: `30s`. */
export interface Requeue {
  readonly requeueAfter: string
}

export interface ControllerElection {
  /** The namespace of the Lease, which has the name of the controller. */
  readonly namespace: string
  /** The holder in the Lease; by default the name of the machine and a random id. */
  readonly identity?: string
}

export interface ControllerOptions<T extends ApiObject> {
  /** In error messages, and the name of its lease. */
  readonly name: string
  /** The kind whose objects are reconciled. */
  readonly kind: ResourceType<T>
  /** Kinds of objects that they own: a change of one reconciles its controller (`metadata.ownerReferences`). */
  readonly owns?: readonly ResourceType[]
  /** Further kinds, with the objects that a change of one reconciles. */
  readonly watches?: readonly WatchedKind[]
  /** Restricts all kinds to a namespace. */
  readonly namespace?: string
  /** Restricts the reconciled objects. Their kind cannot be owned or watched, too: those objects would be restricted as well. */
  readonly labelSelector?: string
  /** How many objects are reconciled at a time; 1 by default. Never two at a time with the same name. */
  readonly workers?: number
  /** Of several processes, the one that has the Lease acts. */
  readonly leaderElection?: ControllerElection
  /** Gets errors of `reconcile`, except conflicts; by default they are lines of standard error. */
  readonly onError?: (error: unknown, name: ObjectName) => void
  /**
   * Makes the cluster what the object says. It is called again after an error, with a growing pause, and may be called at any
   * time when nothing has changed.
   */
  readonly reconcile: (request: ReconcileRequest<T>) => Promise<Requeue | undefined | void>
}

const optionNames: Readonly<Record<keyof ControllerOptions<ApiObject>, true>> = {
  name: true,
  kind: true,
  owns: true,
  watches: true,
  namespace: true,
  labelSelector: true,
  workers: true,
  leaderElection: true,
  onError: true,
  reconcile: true,
}

const workersMax = 100
const releaseMsMax = 5_000

/** A kind, and the objects that are reconciled when an object of the kind changes. */
export const watched = <T extends ApiObject>(
  kind: ResourceType<T>,
  namesOf: (object: T) => readonly ObjectName[],
): WatchedKind => ({ kind, namesOf: namesOf as WatchedKind['namesOf'] })

/** Runs until the signal is aborted. Throws if it has lost its lease: end the process then, so that it starts again. */
export async function runController<T extends ApiObject>(
  cluster: { readonly client: Client; readonly clock: Clock },
  options: ControllerOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  check(options)
  const { client, clock } = cluster
  const { name, leaderElection } = options
  // In a test, the same seed gives the same run.
  const random = clock === realClock ? systemRandom : seededRandom(1).fork(name)
  const tasks = new TaskGroup({ signal })
  const controller = new Controller(client, { clock, random, log: silentLog }, options)
  if (leaderElection === undefined) {
    controller.start(tasks)
    return tasks.join()
  }
  const { namespace, identity = `${hostname()}_${newUid(systemRandom)}` } = leaderElection
  const election = new LeaderElection({ client, clock, random, log: silentLog, name, namespace, identity })
  tasks.start('leader election', (stop) => election.run((own) => controller.start(own), stop))
  await tasks.join()
  const deadline = new AbortController()
  const timer = clock.after(releaseMsMax, () => deadline.abort())
  // Without it, the next leader waits until the lease expires.
  await election.release(deadline.signal).catch(() => {})
  timer.cancel()
}

class Controller<T extends ApiObject> {
  readonly #client: Client
  readonly #deps: ConstructorParameters<typeof Informer>[2]
  readonly #options: ControllerOptions<T>
  readonly #informers = new Map<string, Informer>()
  readonly #reconciler: Reconciler

  constructor(client: Client, deps: ConstructorParameters<typeof Informer>[2], options: ControllerOptions<T>) {
    this.#client = client
    this.#deps = deps
    this.#options = options
    const { name, workers = 1 } = options
    this.#reconciler = new Reconciler({ name, workers }, deps)
  }

  start(tasks: TaskGroup): void {
    const { kind, owns = [], watches = [], labelSelector } = this.#options
    this.#follow(kind, ({ metadata: { namespace = '', name } }) => [{ namespace, name }], {
      ...(labelSelector === undefined ? {} : { labelSelector }),
    })
    for (const owned of owns) this.#follow(owned, (object) => ownerNames(object, kind))
    for (const { kind: other, namesOf } of watches) this.#follow(other, namesOf)
    const informers = [...this.#informers.values()]
    for (const informer of informers) tasks.start(informer.kind.plural, (stop) => informer.run(stop))
    const ready = async () => void (await Promise.all(informers.map(({ synced }) => synced)))
    this.#reconciler.start((key, context) => this.#reconcile(key, context), ready, tasks)
  }

  #follow(kind: ResourceType, namesOf: WatchedKind['namesOf'], selection: ListOptions = {}): void {
    const { namespace } = this.#options
    const inNamespace = namespace === undefined || !kind.namespaced ? {} : { namespace }
    const informer = getOrInsert(
      this.#informers,
      idOf(kind),
      () => new Informer(kind, this.#client.of(kind), this.#deps, { ...inNamespace, ...selection }),
    )
    informer.onChange(({ now, before, cause }) => {
      const names = [now, before].flatMap((object) => (object === undefined ? [] : namesOf(object)))
      for (const key of new Set(names.map((each) => objectKey(each.namespace, each.name))))
        this.#reconciler.add(key, cause)
    })
  }

  async #reconcile(key: string, context: Context): Promise<number | undefined> {
    const { name, kind, reconcile, onError = printed(name) } = this.#options
    const named = splitKey(key)
    const cached = <U extends ApiObject>(wanted: ResourceType<U>) => this.#cached(wanted, named.namespace)
    const object = cached(kind).get(named.name)
    try {
      const requeue = await reconcile({ ...named, object, context, cached })
      return requeue === undefined ? undefined : durationMs(requeue.requeueAfter)
    } catch (error) {
      if (!context.signal.aborted && !hasReason(error, 'Conflict')) onError(error, named)
      throw error
    }
  }

  #cached<U extends ApiObject>(kind: ResourceType<U>, own: string): CachedObjects<U> {
    const informer = this.#informers.get(idOf(kind)) as Informer<U> | undefined
    if (informer === undefined)
      throw new TypeError(`cached: ${kind.plural} are not followed; add ${kind.kind} to owns or watches`)
    return {
      get: (name, namespace = own) => informer.get(objectKey(kind.namespaced ? namespace : '', name)),
      list: (namespace) =>
        [...informer.all()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    }
  }
}

const idOf = ({ apiVersion, plural }: ResourceType): string => `${apiVersion}/${plural}`

/** The controller of an object, if it is of that kind. */
function ownerNames(object: ApiObject, { kind, group, namespaced }: ResourceType): readonly ObjectName[] {
  const owner = controllerOf(object)
  const isOfGroup = owner?.apiVersion.startsWith(group === '' ? 'v' : `${group}/`) === true
  if (owner?.kind !== kind || !isOfGroup) return []
  return [{ namespace: namespaced ? (object.metadata.namespace ?? '') : '', name: owner.name }]
}

const printed =
  (controller: string) =>
  (error: unknown, { namespace, name }: ObjectName): void =>
    void process.stderr.write(`${controller}: ${objectKey(namespace, name)}: ${errorText(error)}; it is tried again\n`)

function check<T extends ApiObject>(options: ControllerOptions<T>): void {
  const what = 'runController'
  checkProperties(what, options, optionNames)
  const { name, kind, owns = [], watches = [], labelSelector, workers, reconcile, leaderElection } = options
  if (typeof name !== 'string' || name === '') throw new TypeError(`${what}: name: ${shownArgument(name)} is no name`)
  if (typeof reconcile !== 'function') throw new TypeError(`${what}: reconcile is no function`)
  const others = [...owns, ...watches.map((watch) => watch.kind)]
  for (const each of [kind, ...others])
    if (typeof each?.plural !== 'string')
      throw new TypeError(`${what}: ${shownArgument(each)} is no kind; import it: import { pod } from 'coxswain'`)
  if (labelSelector !== undefined && others.some((other) => idOf(other) === idOf(kind)))
    throw new TypeError(`${what}: labelSelector: ${kind.plural} are owned or watched, too, and it would restrict them`)
  checkWhole(`${what}: workers`, workers, 1, workersMax)
  if (leaderElection !== undefined)
    checkProperties(`${what}: leaderElection`, leaderElection, { namespace: true, identity: true })
}
