// AvailabilityController: keeps the condition Available of APIServices. It checks an extension when its APIService, its
// Service or its endpoints change, when a request could not be forwarded, and periodically.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { AggregationMetrics } from '../metrics/aggregation-metrics.ts'
import type { ResourceDeps } from '../registry/resource/resource-deps.ts'
import { updateWithRetry } from '../registry/verbs/update-with-retry.ts'
import type { Extension } from '../request/extension.ts'
import type { CacheObserver, ObjectLister } from '../watch-cache/object-caches.ts'
import { localAvailability, serviceAvailability, withAvailability, type Availability } from './availability.ts'
import { checkDiscovery, type ExtensionCallDeps } from './discovery-check.ts'
import type { ExtensionDocuments } from './extension-documents.ts'
import { extensionOf, type Extensions } from './extensions.ts'

export interface AvailabilityControllerDeps extends ExtensionCallDeps {
  readonly extensions: Extensions
  readonly documents: ExtensionDocuments
  readonly lister: ObjectLister
  resource(kind: Kind): ResourceDeps
  readonly metrics: AggregationMetrics
  readonly clock: Clock
  readonly log: Log
}

/** How soon an extension is checked again. One that is not available is available again soon after its server is. */
const availableMs = 5_000
const unavailableMs = 500
/** Extensions that are checked concurrently. */
const concurrentMax = 64
/** How often documents are read again, as upstream. */
const documentsMs = 60_000

export class AvailabilityController {
  readonly #deps: AvailabilityControllerDeps
  readonly #due = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** The next periodic checks. */
  readonly #timers = new Map<string, Timer>()
  /** When the documents of an available extension were last read. */
  readonly #readMs = new Map<string, number>()
  #changed = Promise.withResolvers<void>()

  constructor(deps: AvailabilityControllerDeps) {
    this.#deps = deps
  }

  readonly apiServiceObserver: CacheObserver = {
    changed: (now: ApiObject | undefined, before: ApiObject | undefined) => {
      const object = now ?? before
      // Its own writes change the status only.
      const isChanged = !equalValues((now as APIService | undefined)?.spec, (before as APIService | undefined)?.spec)
      if (object !== undefined && isChanged) this.#enqueue(object.metadata.name)
    },
  }

  /** For Services and EndpointSlices. */
  readonly serviceObserver: CacheObserver = {
    changed: (now, before) => this.#enqueueUsers((now ?? before)?.metadata.namespace),
  }

  /** Checks an extension soon, and the others of its Service, because its server does not respond. */
  check({ service }: Extension): void {
    for (const each of this.#deps.extensions)
      if (each.service.namespace === service.namespace && each.service.name === service.name) this.#enqueue(each.name)
  }

  #enqueueUsers(namespace: string | undefined): void {
    for (const { name, service } of this.#deps.extensions) if (service.namespace === namespace) this.#enqueue(name)
  }

  #enqueue(name: string): void {
    this.#due.add(name)
    this.#changed.resolve()
  }

  /** Each extension is checked on its own, so that one that does not respond delays no other. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await unlessAborted(this.#changed.promise, signal).catch(() => {}) // the loop checks the signal
      this.#changed = Promise.withResolvers()
      for (const name of this.#due) {
        if (this.#running.has(name) || this.#running.size >= concurrentMax || signal.aborted) continue
        this.#due.delete(name)
        const check = this.#reconcile(name, signal).finally(() => {
          this.#running.delete(name)
          if (this.#due.size > 0) this.#changed.resolve()
        })
        this.#running.set(name, check)
      }
    }
    for (const timer of this.#timers.values()) timer.cancel()
    await Promise.all(this.#running.values())
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { lister, log, metrics, documents } = this.#deps
    this.#timers.get(name)?.cancel()
    this.#timers.delete(name)
    const object = lister.get(apiService, '', name)
    const extension = object && extensionOf(object)
    if (extension === undefined) this.#readMs.delete(name)
    if (object === undefined) return metrics.remove(name)
    let isAvailable = false
    try {
      const { availability, resources } =
        extension === undefined ? local : await this.#availabilityOf(extension, signal)
      isAvailable = availability.isAvailable
      metrics.set(name, isAvailable)
      const isDue = extension !== undefined && isAvailable && this.#areDocumentsDue(name)
      // Clients that see that it is available find its resources.
      if (isDue) await documents.refreshDiscovery(extension, resources, signal)
      await this.#update(name, availability, signal)
      if (isDue) await this.#readOpenApi(extension, signal)
      else if (!isAvailable) this.#readMs.delete(name)
    } catch (error) {
      if (signal.aborted || hasReason(error, 'NotFound')) return
      log.warn('the availability of an APIService could not be updated', { name, error: errorText(error) })
    }
    if (extension !== undefined) this.#checkAgain(name, isAvailable ? availableMs : unavailableMs)
  }

  #checkAgain(name: string, delayMs: number): void {
    this.#timers.set(
      name,
      this.#deps.clock.after(delayMs, () => this.#enqueue(name)),
    )
  }

  async #availabilityOf(extension: Extension, signal: AbortSignal) {
    const availability = serviceAvailability(extension, this.#deps.lister)
    return availability === undefined ? checkDiscovery(extension, this.#deps, signal) : { availability, resources: '' }
  }

  #areDocumentsDue(name: string): boolean {
    const readMs = this.#readMs.get(name)
    return readMs === undefined || this.#deps.clock.monotonicMs() - readMs >= documentsMs
  }

  async #readOpenApi(extension: Extension, signal: AbortSignal): Promise<void> {
    const { clock, documents } = this.#deps
    const startMs = clock.monotonicMs()
    await documents.refreshOpenApi(extension, signal)
    this.#readMs.set(extension.name, startMs)
  }

  async #update(name: string, availability: Availability, signal: AbortSignal): Promise<void> {
    const { clock, lister } = this.#deps
    const change = (current: ApiObject) => withAvailability(current as APIService, availability, clock.nowMs())
    const known = lister.get(apiService, '', name)
    if (known === undefined || change(known) === known) return
    await updateWithRetry(this.#deps.resource(apiService), { namespace: '', name }, context(signal), change)
    if (!availability.isAvailable) this.#deps.metrics.becameUnavailable(name, availability.reason)
  }
}

const local = { availability: localAvailability, resources: '' }
