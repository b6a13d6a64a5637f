// DiskClient: the store's side of the disk thread. Requests are sent in order; each reply settles the promise of its
// request.
import { threadModule } from '../../platform/process/own-files.ts'
import type { WorkerHandle, Workers } from '../../platform/process/workers.ts'
import type { PackedChanges } from './packed-changes.ts'
import { errorOf, StoreBroken } from './store-errors.ts'
import type { Lease } from '../lease-table.ts'
import type { DiskOptions, DiskReply, DiskRequest } from './disk-protocol.ts'

export interface DiskContent {
  readonly compacted: number
  readonly leases: readonly Lease[]
  readonly leaseLast: number
}

export class DiskClient {
  readonly #worker: WorkerHandle<DiskRequest, DiskReply>
  readonly #waiting: PromiseWithResolvers<boolean>[] = []
  readonly #opened = Promise.withResolvers<DiskContent>()
  readonly #path: string
  #ended: Error | undefined

  /** Starts the thread. `onLoaded` receives the content of the file before opened() resolves. */
  constructor(options: DiskOptions, workers: Workers, onLoaded: (changes: PackedChanges, compacted: number) => void) {
    this.#path = options.path
    this.#worker = workers.start(threadModule('disk-thread', import.meta.url), options)
    this.#worker.listen(
      (reply) => {
        if (reply.kind !== 'loaded') return this.#take(reply)
        onLoaded(reply.changes, reply.compacted)
        this.#worker.post({ kind: 'acknowledge' })
      },
      (error) => this.#end(error),
    )
  }

  opened(): Promise<DiskContent> {
    return this.#opened.promise
  }

  /** Resolves when the request is done and durable. The value is true if there is more of the same to do. */
  request(request: DiskRequest): Promise<boolean> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const waiting = Promise.withResolvers<boolean>()
    this.#waiting.push(waiting)
    this.#worker.post(request)
    return waiting.promise
  }

  /** Terminates the thread; request 'close' first to leave nothing to recover. */
  stop(): Promise<void> {
    return this.#worker.stop()
  }

  #take(reply: Exclude<DiskReply, { kind: 'loaded' }>): void {
    switch (reply.kind) {
      case 'ready':
        return this.#opened.resolve(reply)
      case 'done':
        return this.#waiting.shift()?.resolve(reply.more)
      case 'failed': {
        const error = errorOf(reply.failure)
        const waiting = this.#waiting.shift()
        return waiting === undefined ? this.#opened.reject(error) : waiting.reject(error)
      }
      default:
        return reply satisfies never
    }
  }

  #end(error: Error | undefined): void {
    this.#ended = new StoreBroken(`${this.#path}: the disk thread ended: ${error?.message ?? 'terminated'}`)
    this.#opened.reject(this.#ended)
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
  }
}
