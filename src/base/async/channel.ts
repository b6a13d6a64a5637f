// Channel: a bounded queue between one sender and one iterating reader. The sender never waits. A reader that falls too
// far behind gets an error.
import { offAbort, onAbort } from './on-abort.ts'
import type { MaybePromise } from './maybe-promise.ts'

export class ChannelOverflow extends Error {
  override name = 'ChannelOverflow'
}

export class Channel<T> implements AsyncIterable<T> {
  readonly #max: number
  readonly #onEnd: () => void
  #items: T[] = []
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined
  #ended: { error: unknown } | undefined
  #wake: (() => void) | undefined
  #isMuted = false
  #alsoAtEnd: (() => void) | undefined
  #unlink: (() => void) | undefined

  /** `onEnd` runs once, when either side ends the channel. */
  constructor(itemsMax: number, onEnd: () => void = () => {}) {
    this.#max = itemsMax
    this.#onEnd = onEnd
  }

  get ended(): boolean {
    return this.#ended !== undefined
  }

  get isMuted(): boolean {
    return this.#isMuted
  }

  /** Drops all further items without notifying the reader. */
  mute(): void {
    this.#isMuted = true
  }

  /** Queues an item for the reader. Beyond the bound the channel ends with ChannelOverflow. */
  push(item: T): void {
    if (this.#ended !== undefined || this.#isMuted) return
    const waiting = this.#waiting
    if (waiting !== undefined) {
      this.#waiting = undefined
      waiting.resolve({ value: item, done: false })
    } else if (this.#items.length >= this.#max) {
      this.#items = []
      this.end(new ChannelOverflow(`the reader is more than ${this.#max} items behind`))
    } else {
      this.#items.push(item)
      if (this.#items.length === 1) this.#wake?.()
    }
  }

  /** For a reader that takes items in batches: `wake` runs when items are available or the channel has ended. */
  onReadable(wake: () => void): void {
    this.#wake = wake
    if (this.#items.length > 0 || this.#ended !== undefined) wake()
  }

  /** Up to `itemsMax` queued items; undefined after the end. The error that ended the channel is thrown once. */
  take(itemsMax: number): T[] | undefined {
    if (this.#items.length > itemsMax) return this.#items.splice(0, itemsMax)
    if (this.#items.length > 0) {
      const items = this.#items
      this.#items = []
      return items
    }
    if (this.#ended === undefined) return []
    const { error } = this.#ended
    this.#ended.error = undefined
    if (error !== undefined) throw error
    return undefined
  }

  /** Ends the channel. The reader still gets the queued items, then the end or the error. */
  end(error?: unknown): void {
    if (this.#ended !== undefined) return
    this.#ended = { error }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (error === undefined) waiting?.resolve({ value: undefined, done: true })
    else waiting?.reject(error)
    this.#unlink?.()
    this.#onEnd()
    this.#alsoAtEnd?.()
    this.#wake?.()
  }

  /** Adds one further listener for the end of the channel. */
  onEnded(listener: () => void): void {
    if (this.ended) listener()
    else this.#alsoAtEnd = listener
  }

  /** Ends the channel when the signal is aborted. */
  endOnAbort(signal: AbortSignal): this {
    if (signal.aborted) this.end()
    else {
      const end = () => this.end()
      onAbort(signal, end)
      this.#unlink = () => offAbort(signal, end)
    }
    return this
  }

  /**
   * Yields everything that is queued, as soon as there is something. Written as an iterator: an async generator creates
   * ten promises per batch.
   */
  batches(): AsyncIterable<readonly T[]> {
    return this.mapBatches((items) => items)
  }

  /** Like `batches`, with each batch converted. */
  mapBatches<U>(turned: (items: readonly T[]) => U): AsyncIterable<U> {
    const next = async (): Promise<IteratorResult<U, undefined>> => {
      try {
        let items = this.take(Infinity)
        for (; items?.length === 0; items = this.take(Infinity)) await this.#readable()
        return items === undefined ? { value: undefined, done: true } : { value: turned(items), done: false }
      } catch (error) {
        this.#leave()
        throw error
      }
    }
    const leave = (): Promise<IteratorResult<U, undefined>> => {
      this.#leave()
      return Promise.resolve({ value: undefined, done: true })
    }
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) }
  }

  #readable(): Promise<void> {
    return new Promise((resolve) => this.onReadable(resolve))
  }

  /** The reader stops; the queued items are dropped. */
  #leave(): void {
    this.#items = []
    this.end()
  }

  /**
   * Converts every item, in order; undefined leaves an item out. Ending either channel ends both. While the conversion of
   * an item is pending, later items wait in this channel, within its bound.
   */
  map<U>(turned: (item: T) => MaybePromise<U | undefined>): Channel<U> {
    const target: Channel<U> = new Channel(this.#max, () => this.end())
    let items: readonly T[] | undefined = []
    let next = 0
    let isWaiting = false
    const arrived = (value: U | undefined) => {
      isWaiting = false
      if (value !== undefined) target.push(value)
      forward()
    }
    const failed = (error: unknown) => target.end(error)
    const forward = () => {
      try {
        while (!isWaiting) {
          if (next === items?.length) {
            items = this.take(Infinity)
            next = 0
          }
          if (items === undefined) return target.end()
          if (items.length === 0) return
          const value = turned(items[next++] as T)
          if (value instanceof Promise) {
            isWaiting = true
            value.then(arrived, failed)
          } else if (value !== undefined) target.push(value)
        }
      } catch (error) {
        failed(error)
      }
    }
    this.onReadable(forward)
    return target
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.#leave()
        return Promise.resolve({ value: undefined, done: true })
      },
    }
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#items.shift()
    if (item !== undefined) return Promise.resolve({ value: item, done: false })
    if (this.#ended !== undefined) {
      const { error } = this.#ended
      this.#ended.error = undefined // the error is thrown once
      return error === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error)
    }
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }
}
