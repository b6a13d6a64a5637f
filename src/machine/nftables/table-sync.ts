// TableSync: keeps one table of the kernel equal to the content that its owner computes. Changes that arrive in one turn of
// the event loop, or while a transaction is applied, become one transaction. After a failure, or when another program has
// changed the table, the whole content is applied.
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { CommandText } from '../../base/net/command-text.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Nftables, TransactionResult } from './nftables.ts'

export interface TableSyncDeps {
  readonly nftables: Nftables
  readonly clock: Clock
  readonly log: Log
}

export interface TableOwner {
  /** Whose rules these are, in messages. */
  readonly subject: string
  /** Commands that succeed as long as the table exists. */
  readonly presenceCommands: readonly CommandText[]
  /** Commands that all fail as long as the table is complete. */
  readonly probeCommands: readonly CommandText[]
  /** What has changed since the last call; all content if `isFull`. */
  next(isFull: boolean, signal: AbortSignal): MaybePromise<TableTransaction>
  /** Called before each check of the table. */
  beforeCheck?(): Promise<void>
}

export interface TableTransaction {
  readonly commands: readonly CommandText[]
  /** Whether these are all content, although changes were requested. */
  readonly isFull: boolean
  /** Commands that repeat, in a replaced table, what the kernel itself has added to it. */
  learned?(): Promise<readonly CommandText[]>
  /** `needsFullSync`: the kernel may have other content, so all content is applied next. */
  finish(result: TransactionResult, needsFullSync: boolean, signal: AbortSignal): void | Promise<void>
}

const retryBackoff: Backoff = { initialMs: 100, maxMs: 30_000 }
/** How often the presence of the table is checked, so that a lost one is restored within a second. */
const presenceMs = 500
/** How often its completeness is checked as well. The check takes the kernel 10 ms and more, and changes wait for it. */
const presencesPerProbe = 10
const messagesMax = 5

export class TableSync {
  readonly #owner: TableOwner
  readonly #deps: TableSyncDeps
  readonly #synced = Promise.withResolvers<void>()
  /** The kernel may have other rules than those that were applied, so all content is applied next. */
  #needsFullSync = true
  #failures = 0
  #wake = Promise.withResolvers<void>()

  constructor(owner: TableOwner, deps: TableSyncDeps) {
    this.#owner = owner
    this.#deps = deps
  }

  /** Resolves when the rules were applied for the first time. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** There are changes. */
  queue(): void {
    this.#wake.resolve()
  }

  /** All content is to be applied. */
  queueAll(): void {
    this.#needsFullSync = true
    this.queue()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let check: Promise<void> | undefined
    let failure: { readonly error: unknown } | undefined
    const onFailure = (error: unknown): void => {
      failure = { error }
      this.queue()
    }
    try {
      while (!signal.aborted) {
        if (failure !== undefined) throw failure.error
        this.#wake = Promise.withResolvers<void>()
        await this.#sync(signal)
        if (this.#needsFullSync) await clock.sleep(backoffMs(retryBackoff, this.#failures++), signal)
        else {
          check ??= this.#checkRepeatedly(signal).catch(onFailure)
          await unlessAborted(this.#wake.promise, signal)
        }
        // Other changes of the same turn belong to the same transaction.
        await clock.outside(eventLoopTurn())
      }
    } finally {
      await check
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { nftables, log } = this.#deps
    const { subject } = this.#owner
    const transaction = await this.#owner.next(this.#needsFullSync, signal)
    const { isFull } = transaction
    // After a failure the table is replaced without it, in case that it is the reason.
    const learned = isFull && this.#failures === 0 ? await transaction.learned?.() : undefined
    const commands = learned === undefined ? transaction.commands : [...transaction.commands, ...learned]
    const result = commands.length === 0 ? ({ kind: 'applied' } as const) : await nftables.apply(commands)
    // A full sync may have been requested meanwhile.
    this.#needsFullSync = result.kind === 'failed' || (!isFull && this.#needsFullSync)
    if (result.kind === 'failed')
      log.error(`cannot apply the rules of ${subject}`, { messages: result.messages.slice(0, messagesMax) })
    else {
      this.#failures = 0
      this.#synced.resolve()
    }
    await transaction.finish(result, this.#needsFullSync, signal)
  }

  async #checkRepeatedly(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    for (let round = 1; !signal.aborted; round++) {
      await this.#owner.beforeCheck?.()
      await clock.sleep(presenceMs, signal)
      if (await (round % presencesPerProbe === 0 ? this.#isComplete() : this.#isPresent())) continue
      log.warn(`the rules of ${this.#owner.subject} were changed by another program; they are restored`)
      this.queueAll()
    }
  }

  async #isPresent(): Promise<boolean> {
    return (await this.#deps.nftables.apply(this.#owner.presenceCommands)).kind === 'applied'
  }

  async #isComplete(): Promise<boolean> {
    const { probeCommands } = this.#owner
    const result = await this.#deps.nftables.apply(probeCommands)
    return result.kind === 'failed' && result.messages.length === probeCommands.length
  }
}

/** Removes a table, and no other. */
export async function removeTable(
  nftables: Nftables,
  subject: string,
  commands: readonly CommandText[],
): Promise<void> {
  const result = await nftables.apply(commands)
  if (result.kind === 'failed') throw new Error(`cannot remove the rules of ${subject}: ${result.messages.join('; ')}`)
}
