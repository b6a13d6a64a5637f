// TableFollowing: keeps a table as the list of the cluster is, while the table is shown.
import type { TableModel } from '../model/table-model.ts'
import { RequestError } from '../source/requests.ts'
import type { Resource, RowChange, Source } from '../source/source.ts'

export interface TableFollowingDeps {
  readonly source: Pick<Source, 'isLive' | 'followTable'>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
  readonly failed: (error: unknown) => void
}

/** Which objects are listed. */
export interface TableScope {
  readonly namespace: string
  readonly revision: number | undefined
}

/** After this time a list is read again whose watch has ended. */
const againMs = 1_000

export class TableFollowing {
  readonly #table: TableModel
  readonly #deps: TableFollowingDeps
  #following = new AbortController()

  constructor(table: TableModel, deps: TableFollowingDeps) {
    this.#table = table
    this.#deps = deps
  }

  /** Follows this list instead of the one before. */
  follow(resource: Resource, scope: TableScope): void {
    this.stop()
    this.#following = new AbortController()
    const { signal } = this.#following
    this.#table.clear()
    void this.#keep(resource, scope, signal).catch((error: unknown) => signal.aborted || this.#deps.failed(error))
  }

  stop(): void {
    this.#following.abort()
  }

  /** A watch ends after a while, or when the connection is lost; then the list is read again. */
  async #keep(resource: Resource, { namespace, revision }: TableScope, signal: AbortSignal): Promise<void> {
    const { source, sleep, changed } = this.#deps
    const onChange = (change: RowChange): void => {
      if (signal.aborted) return
      this.#table.apply(change)
      changed()
    }
    while (!signal.aborted) {
      let isLost = false
      try {
        await source.followTable(resource, { namespace, revision }, onChange, signal)
      } catch (error) {
        // What the server rejects, it would reject again.
        if (error instanceof RequestError || !source.isLive) throw error
        isLost = true
      }
      const isWatched = source.isLive && revision === undefined && resource.verbs.includes('watch')
      if (!isLost && !isWatched) return
      await sleep(againMs, signal)
    }
  }
}
