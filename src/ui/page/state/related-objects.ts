// The lists that the summary of an object needs. They are read again when flow events name objects of their kinds, when the object has
// changed, and after a while, because a cluster may have no flow events.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { RelatedLists, RelatedQuery } from '../model/summary/summary-parts.ts'
import { RequestError } from '../source/requests.ts'
import type { ClusterObject, Resource, Source } from '../source/source.ts'

export interface RelatedObjectsDeps {
  readonly source: Pick<Source, 'list' | 'isLive'>
  readonly resourceOf: (id: string) => Resource | undefined
  readonly nowMs: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

/** They are read at most this often. */
const readStepMs = 1_000
/** They are read again after this time, if nothing has said that they changed. */
const staleMs = 15_000

export class RelatedObjects {
  /** Whether they have been read. */
  isLoaded = false
  /** Kinds that the user may not list. */
  forbidden: readonly string[] = []
  failure: string | undefined
  readonly #deps: RelatedObjectsDeps
  #lists: ReadonlyMap<string, readonly ClusterObject[]> = new Map()
  #queries: readonly RelatedQuery[] = []
  #revision: number | undefined
  #key = ''
  #version = ''
  #readMs = 0
  #isReading = false
  #isStale = false
  #reading = new AbortController()

  constructor(deps: RelatedObjectsDeps) {
    this.#deps = deps
  }

  readonly lists: RelatedLists = (resource) => this.#lists.get(resource) ?? []

  /** Called whenever the summary is drawn; `version` is that of the object. */
  follow(queries: readonly RelatedQuery[], version: string, revision: number | undefined): void {
    const key = JSON.stringify([queries, revision])
    if (key !== this.#key) {
      this.close()
      this.#key = key
      this.#version = version
      this.#queries = queries
      this.#revision = revision
      this.#reading = new AbortController()
      this.isLoaded = queries.length === 0
      if (queries.length > 0) void this.#read(0)
      return
    }
    const isOld = this.#deps.source.isLive && this.#deps.nowMs() - this.#readMs > staleMs
    const isOther = version !== this.#version
    this.#version = version
    if (revision === undefined && (isOther || isOld)) this.#readAgain()
  }

  observe(events: readonly FlowEvent[]): void {
    if (this.#queries.length === 0 || this.#revision !== undefined) return
    const plurals = new Set(this.#queries.map(({ resource }) => resource.split('.', 1)[0]))
    if (events.some(({ arrow, object }) => arrow === 'persist' && object !== undefined && plurals.has(object.resource)))
      this.#readAgain()
  }

  close(): void {
    this.#reading.abort()
    this.#key = ''
    this.#queries = []
    this.#lists = new Map()
    this.isLoaded = false
    this.forbidden = []
    this.failure = undefined
    this.#isReading = false
    this.#isStale = false
  }

  #readAgain(): void {
    if (this.#queries.length === 0) return
    if (this.#isReading) this.#isStale = true
    else void this.#read(Math.max(0, this.#readMs + readStepMs - this.#deps.nowMs()))
  }

  async #read(afterMs: number): Promise<void> {
    const { nowMs, sleep, changed } = this.#deps
    const { signal } = this.#reading
    this.#isReading = true
    try {
      if (afterMs > 0) await sleep(afterMs, signal)
      this.#isStale = false
      const forbidden: string[] = []
      const lists = await Promise.all(
        this.#queries.map(async (query) => [query.resource, await this.#list(query, forbidden)] as const),
      )
      if (signal.aborted) return
      this.#lists = new Map(lists)
      this.forbidden = forbidden
      this.failure = undefined
    } catch (error) {
      if (signal.aborted) return
      this.failure = (error as Error).message
    }
    this.#readMs = nowMs()
    this.isLoaded = true
    this.#isReading = false
    changed()
    if (this.#isStale) this.#readAgain()
  }

  /** What the user may not list is left out, and named. Kinds that the cluster does not have are empty. */
  async #list({ resource: id, ...options }: RelatedQuery, forbidden: string[]): Promise<readonly ClusterObject[]> {
    const resource = this.#deps.resourceOf(id)
    if (resource === undefined) return []
    try {
      return await this.#deps.source.list(resource, { ...options, revision: this.#revision })
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== 403) throw error
      forbidden.push(resource.plural)
      return []
    }
  }
}
