// DiscoveredKinds: metadata informers for the kinds that discovery finds. While discovery fails, the known kinds stay.
// Discovery runs when a CustomResourceDefinition or an APIService changes; there is no polling.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { apiService } from '../../api/apiregistration/v1/api-service.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import type { Client } from '../../client/client.ts'
import { discover, type DiscoveryResult, type ServedKind } from '../../client/discovery.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'

/** Changes within this time share one discovery. */
const settleMs = 1_000
/** A kind that cannot be listed delays reconciles for at most this long. */
const syncMsMax = 30_000
const retryBackoff: Backoff = { initialMs: 100, maxMs: 30_000 }

export interface DiscoveredKindsDeps {
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly log: Log
  readonly tasks: TaskGroup
  /** Which kinds are watched. */
  readonly isWanted: (served: ServedKind) => boolean
  readonly onAdded: (kind: Kind, informer: Informer) => void
  readonly onRemoved: (kind: Kind) => void
  /** Called when a discovery fails, and when a kind could not be listed in time. */
  readonly onFailure: () => void
}

interface WatchedKind {
  readonly kind: Kind
  readonly stop: AbortController
}

export class DiscoveredKinds {
  readonly #deps: DiscoveredKindsDeps
  readonly #watched = new Map<string, WatchedKind>()
  /** Initial lists that have not completed, and the first discovery. */
  readonly #pending = new Set<Promise<void>>()
  readonly #firstDiscovery = Promise.withResolvers<void>()
  readonly #byApiVersionAndKind = new Map<string, Kind>()
  #served: readonly ServedKind[] = []
  #change = Promise.withResolvers<void>()

  constructor(deps: DiscoveredKindsDeps) {
    this.#deps = deps
    for (const kind of [customResourceDefinition, apiService] as readonly Kind[])
      deps.informers.of(kind).onChange(() => this.#change.resolve())
    this.#track(this.#firstDiscovery.promise)
    deps.tasks.start('discovery', (signal) => this.#run(signal))
  }

  /** The watched kind for an owner reference, whichever version the reference names. */
  kindFor(apiVersion: string, name: string): Kind | undefined {
    const served = this.#byApiVersionAndKind.get(`${apiVersion} ${name}`)
    return served === undefined ? undefined : (this.resource(qualifiedResource(served)) ?? served)
  }

  /** The watched kind of `deployments.apps`. */
  resource(qualified: string): Kind | undefined {
    return this.#watched.get(qualified)?.kind
  }

  /** Resolves when every watched kind has been listed, or its time is up. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#pending.size > 0) await unlessAborted(Promise.all(this.#pending), signal)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { client, informers, clock, log } = this.#deps
    await unlessAborted(informers.synced(), signal)
    for (let failures = 0; ;) {
      this.#change = Promise.withResolvers()
      try {
        const found = await discover(client, context(signal))
        this.#apply(found)
        failures = found.failing.length === 0 ? 0 : failures + 1
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.onFailure()
        if (failures++ === 0) log.warn('discovery failed; the known kinds are kept', { error: errorText(error) })
      }
      if (failures === 0) await unlessAborted(this.#change.promise, signal)
      await clock.sleep(failures === 0 ? settleMs : backoffMs(retryBackoff, failures - 1), signal)
    }
  }

  #apply({ kinds, failing }: DiscoveryResult): void {
    const kept = this.#served.filter(({ kind }) => failing.includes(kind.apiVersion))
    this.#served = [...kinds, ...kept.filter(({ kind }) => !kinds.some((served) => isSame(served.kind, kind)))]
    this.#byApiVersionAndKind.clear()
    for (const { kind } of this.#served.toReversed())
      this.#byApiVersionAndKind.set(`${kind.apiVersion} ${kind.kind}`, kind)
    const wanted = new Map(
      this.#served.filter(this.#deps.isWanted).map(({ kind }) => [qualifiedResource(kind), kind] as const),
    )
    for (const [name, { kind, stop }] of this.#watched) {
      const next = wanted.get(name)
      if (next !== undefined && isSame(next, kind)) continue
      stop.abort()
      this.#watched.delete(name)
      this.#deps.onRemoved(kind)
    }
    for (const [name, kind] of wanted) if (!this.#watched.has(name)) this.#watched.set(name, this.#watch(kind))
    this.#firstDiscovery.resolve()
  }

  #watch(kind: Kind): WatchedKind {
    const { informers, clock, onAdded, onFailure } = this.#deps
    const stop = new AbortController()
    const informer = informers.metadataOf(kind, stop.signal)
    onAdded(kind, informer)
    const late = Promise.withResolvers<void>()
    const timer = clock.after(syncMsMax, () => {
      onFailure()
      late.resolve()
    })
    this.#track(Promise.race([informer.synced, late.promise]).finally(() => timer.cancel()))
    return { kind, stop }
  }

  #track(work: Promise<void>): void {
    const awaited = work.finally(() => this.#pending.delete(awaited))
    this.#pending.add(awaited)
  }
}

const isSame = (a: Kind, b: Kind): boolean => a.apiVersion === b.apiVersion && a.plural === b.plural
