// How many objects of each kind there are. The numbers are read once, and again after objects of a kind were created or deleted;
// while nothing happens, nothing is requested.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { resourceId, type Resource, type Source } from '../source/source.ts'

export interface KindCountsDeps {
  readonly source: Pick<Source, 'count'>
  /** Resolves when the page is drawn again: never while it is hidden. */
  readonly whenDrawn: () => Promise<void>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

/** Requests at a time. A browser opens six connections to a server, and streams use some of them. */
const atOnce = 2
/** A kind is counted at most this often. */
const stepMs = 2_000

export class KindCounts {
  readonly #deps: KindCountsDeps
  readonly #counts = new Map<string, number>()
  readonly #stale = new Map<string, Resource>()
  #resources: readonly Resource[] = []
  #namespace = ''
  #counting = new AbortController()
  #isRunning = false

  constructor(deps: KindCountsDeps) {
    this.#deps = deps
  }

  /** Undefined while it is not known, or if the user may not list the kind. */
  get(resource: Resource): number | undefined {
    return this.#counts.get(resourceId(resource))
  }

  /** Counts the objects of these kinds, in one namespace if it is not empty. */
  follow(resources: readonly Resource[], namespace: string): void {
    this.stop()
    this.#counting = new AbortController()
    this.#resources = resources
    this.#namespace = namespace
    for (const resource of resources) this.#stale.set(resourceId(resource), resource)
    this.#run()
  }

  observe(events: readonly FlowEvent[]): void {
    const plurals = new Set(events.flatMap((event) => (changesCount(event) ? (event.object?.resource ?? []) : [])))
    if (plurals.size === 0) return
    for (const resource of this.#resources)
      if (plurals.has(resource.plural)) this.#stale.set(resourceId(resource), resource)
    this.#run()
  }

  stop(): void {
    this.#counting.abort()
    this.#isRunning = false
    this.#stale.clear()
    this.#counts.clear()
  }

  #run(): void {
    if (this.#isRunning || this.#stale.size === 0) return
    this.#isRunning = true
    void this.#keepCounting(this.#counting.signal)
  }

  async #keepCounting(signal: AbortSignal): Promise<void> {
    const { whenDrawn, sleep, changed } = this.#deps
    while (this.#stale.size > 0) {
      await whenDrawn()
      const stale = [...this.#stale.values()]
      this.#stale.clear()
      const counting = Array.from({ length: atOnce }, async () => {
        for (let next = stale.shift(); next !== undefined && !signal.aborted; next = stale.shift())
          await this.#count(next, signal)
      })
      await Promise.all(counting)
      if (signal.aborted) return
      changed()
      await sleep(stepMs, signal).catch(() => undefined)
      if (signal.aborted) return
    }
    this.#isRunning = false
  }

  async #count(resource: Resource, signal: AbortSignal): Promise<void> {
    const { source } = this.#deps
    const namespace = resource.isNamespaced ? this.#namespace : ''
    const count = await source.count(resource, namespace, signal).catch(() => undefined)
    if (signal.aborted) return
    const id = resourceId(resource)
    if (count === undefined) this.#counts.delete(id)
    else this.#counts.set(id, count)
  }
}

/** Whether a message created or deleted an object. A patch that creates one has the response 201. */
const changesCount = ({ arrow, what, outcome = '' }: FlowEvent): boolean =>
  (arrow === 'call' && (/^(create|delete|deletecollection) /.test(what) || outcome.startsWith('201'))) ||
  (arrow === 'persist' && what.startsWith('delete '))
