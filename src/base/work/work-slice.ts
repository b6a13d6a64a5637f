// WorkSlice: long computations run in slices of time, so that the event loop serves other work between them. Such a
// computation is a generator. It asks at regular points whether its slice is used up, and yields if so. A short computation
// never yields and is synchronous.
import type { Clock } from '../time/clock.ts'
import { onNextTurn } from '../async/event-loop-turn.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'

/** How long a computation blocks the event loop at a time. */
export const sliceMs = 5

/** A computation that yields whenever its slice is used up, and returns its result. */
export type Sliced<T> = Generator<undefined, T, undefined>

/** The part of a WorkSlice that a computation uses. */
export interface Slice {
  isUsedUp(): boolean
}

/** A computation with this slice never yields. */
export const endlessSlice: Slice = { isUsedUp: () => false }

export class WorkSlice implements Slice {
  readonly #clock: Clock
  #untilMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#untilMs = clock.monotonicMs() + sliceMs
  }

  isUsedUp(): boolean {
    return this.#clock.monotonicMs() >= this.#untilMs
  }

  /** Waits for other work, and begins the next slice. */
  async next(): Promise<void> {
    await this.#clock.outside(nextSlice())
    this.#untilMs = this.#clock.monotonicMs() + sliceMs
  }
}

/** Computations that wait for their next slice. */
const waiting: (() => void)[] = []

/** One in each turn, however many computations there are. */
const nextSlice = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) onNextTurn(giveSlice)
  })

function giveSlice(): void {
  waiting.shift()?.()
  if (waiting.length > 0) onNextTurn(giveSlice)
}

/** The result of a computation that may take long, synchronously if one slice suffices. Ends when it is aborted. */
export function runInSlices<T>(work: (slice: Slice) => Sliced<T>, clock: Clock, signal: AbortSignal): MaybePromise<T> {
  const slice = new WorkSlice(clock)
  const steps = work(slice)
  const first = steps.next()
  return first.done === true ? first.value : remaining(steps, slice, signal)
}

async function remaining<T>(steps: Sliced<T>, slice: WorkSlice, signal: AbortSignal): Promise<T> {
  for (;;) {
    await slice.next()
    signal.throwIfAborted()
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The result of a computation that is not interrupted, whatever it takes. */
export function runToEnd<T>(work: (slice: Slice) => Sliced<T>): T {
  const steps = work(endlessSlice)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
