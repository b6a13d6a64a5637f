// OffloadedFunction: a pure function that runs in a worker thread, one call at a time, because it would block the event
// loop for too long. Calls wait in a bounded queue, the smallest first. A call that takes too long is aborted by
// terminating the thread. The thread starts with the first call and ends after a period without calls.
import type { Clock, Timer } from '../../base/time/clock.ts'
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import type { WorkerHandle, Workers } from './workers.ts'

export interface OffloadOptions {
  readonly workers: Workers
  readonly clock: Clock
  /** The module whose export `run` is called in the thread. */
  readonly module: URL
  readonly callsMax: number
  /** Measured from the start of the call in the thread. */
  readonly callMsMax: number
}

/** The queue is full. */
export class OffloadBusy extends Error {
  override name = 'OffloadBusy'
}

/** The call took longer than allowed, or its thread ran out of memory. */
export class OffloadExceeded extends Error {
  override name = 'OffloadExceeded'
}

/** The reply of the thread: a value, or the message of the exception. */
export type OffloadReply<Out> = { readonly value: Out } | { readonly error: string }

interface Call<In, Out> {
  readonly input: In
  readonly size: number
  readonly reply: PromiseWithResolvers<Out>
  readonly leave: () => void
}

const idleMsMax = 30_000

export class OffloadedFunction<In, Out> {
  readonly #options: OffloadOptions
  readonly #waiting: Call<In, Out>[] = []
  #running: Call<In, Out> | undefined
  #thread: WorkerHandle<In, OffloadReply<Out>> | undefined
  #timer: Timer | undefined

  constructor(options: OffloadOptions) {
    this.#options = options
  }

  /** `size`: an estimate of the work, relative to other calls. Rejects with an Error that has the function's message. */
  call(input: In, size: number, signal: AbortSignal): Promise<Out> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    if (this.#waiting.length >= this.#options.callsMax) return Promise.reject(new OffloadBusy('too many calls wait'))
    const reply = Promise.withResolvers<Out>()
    const abort = () => this.#abandon(call, signal.reason as Error)
    const call: Call<In, Out> = { input, size, reply, leave: () => offAbort(signal, abort) }
    onAbort(signal, abort)
    const place = this.#waiting.findIndex((other) => other.size > size)
    this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, call)
    this.#next()
    return this.#options.clock.outside(reply.promise)
  }

  async close(): Promise<void> {
    for (const call of [...this.#waiting, this.#running]) if (call) this.#abandon(call, new Error('closed'))
    await this.#stopThread()
  }

  #next(): void {
    if (this.#running !== undefined) return
    const call = this.#waiting.shift()
    this.#timer?.cancel()
    const { clock, callMsMax } = this.#options
    if (call === undefined) {
      this.#timer = clock.after(idleMsMax, () => void this.#stopThread())
      return
    }
    this.#running = call
    this.#timer = clock.after(callMsMax, () =>
      this.#abandon(call, new OffloadExceeded(`did not end within ${callMsMax / 1000} s`)),
    )
    this.#thread ??= this.#startThread()
    this.#thread.post(call.input)
  }

  #startThread(): WorkerHandle<In, OffloadReply<Out>> {
    const { workers, module } = this.#options
    const thread = workers.offload<In, OffloadReply<Out>>(module)
    thread.listen(
      (reply) => {
        if (this.#thread !== thread) return
        if ('value' in reply) this.#finish((call) => call.reply.resolve(reply.value))
        else this.#finish((call) => call.reply.reject(new Error(reply.error)))
      },
      (error) => {
        if (this.#thread !== thread) return
        this.#thread = undefined
        this.#finish((call) => call.reply.reject(new OffloadExceeded(error?.message ?? 'the thread ended')))
      },
    )
    return thread
  }

  #finish(settle: (call: Call<In, Out>) => void): void {
    const call = this.#running
    this.#running = undefined
    if (call !== undefined) {
      call.leave()
      settle(call)
    }
    this.#next()
  }

  /** A running call cannot be interrupted: its thread is terminated, and the next call starts another. */
  #abandon(call: Call<In, Out>, error: Error): void {
    call.leave()
    call.reply.reject(error)
    const place = this.#waiting.indexOf(call)
    if (place >= 0) this.#waiting.splice(place, 1)
    if (this.#running !== call) return
    void this.#stopThread()
    this.#running = undefined
    this.#next()
  }

  async #stopThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    this.#timer?.cancel()
    await thread?.stop()
  }
}
