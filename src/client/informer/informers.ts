// Informers: one informer per kind, shared by all components of a process that use one identity.
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Kind, ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Client } from '../client.ts'
import { Informer, type InformerDeps } from './informer.ts'

export class Informers {
  readonly #client: Client
  readonly #deps: InformerDeps
  readonly #tasks: TaskGroup
  readonly #informers = new Map<Kind, Informer>()
  /** Cached, because every worker of every controller waits for it. */
  #synced: Promise<void> | undefined

  /** Informers run in `tasks`. */
  constructor(client: Client, deps: InformerDeps, tasks: TaskGroup) {
    this.#client = client
    this.#deps = deps
    this.#tasks = tasks
  }

  of<T extends ApiObject, Input>(type: ResourceType<T, Input>): Informer<T> {
    const kind = type as Kind<T, Input>
    const known = this.#informers.get(kind)
    if (known !== undefined) return known as unknown as Informer<T>
    const informer = new Informer<T>(kind, this.#client.of(kind), this.#deps)
    this.#informers.set(kind, informer as unknown as Informer)
    this.#synced = undefined
    this.#tasks.start(`informer ${kind.plural}`, (signal) => informer.run(signal))
    return informer
  }

  /** The informer of the kind, or a new metadata informer that runs until the signal is aborted. */
  metadataOf(kind: Kind, signal: AbortSignal): Informer {
    const known = this.#informers.get(kind)
    if (known !== undefined) return known
    const informer = new Informer(kind, this.#client.metadataOf(kind), this.#deps)
    this.#tasks.start(`informer of metadata ${kind.plural}`, (stop) => informer.run(AbortSignal.any([stop, signal])))
    return informer
  }

  /** Resolves when every informer has listed its kind: never, if one is stopped before. */
  synced(): Promise<void> {
    return (this.#synced ??= this.#everySynced())
  }

  async #everySynced(): Promise<void> {
    await Promise.all(Array.from(this.#informers.values(), (informer) => informer.synced))
  }
}
