// TaskGroup owns what runs in the background: it starts tasks, ends them with one signal and waits for them.
// The first task that fails ends the others; its error comes out of join(), or of onFailure when one is given.

export interface TaskGroupOptions {
  /** Ends the group from outside. */
  readonly signal?: AbortSignal
  /** Called once with the first failure, for owners that never join. */
  readonly onFailure?: (task: string, error: unknown) => void
}

export class TaskGroup implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Map<Promise<void>, string>()
  readonly #onFailure: ((task: string, error: unknown) => void) | undefined
  readonly #unlink: () => void
  #failure: { error: unknown } | undefined

  constructor(options: TaskGroupOptions = {}) {
    this.#onFailure = options.onFailure
    const { signal } = options
    const stop = () => this.stop(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#unlink = () => signal?.removeEventListener('abort', stop)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Names of the tasks that have not ended. */
  get running(): readonly string[] {
    return [...this.#running.values()]
  }

  /** Starts a task; it is expected to end soon after its signal is aborted. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) return
    const promise = Promise.try(task, this.signal)
      .catch((error: unknown) => this.#fail(name, error))
      .finally(() => this.#running.delete(promise))
    this.#running.set(promise, name)
  }

  /** Asks every task to end, without waiting. */
  stop(reason: unknown = new DOMException('the task group was stopped', 'AbortError')): void {
    this.#controller.abort(reason)
  }

  /** Waits until every task has ended; throws the first failure. */
  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys())
    this.#unlink()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    await this.join()
  }

  // An error after the stop is the way a task notices it: sleep, fetch and the like reject when aborted.
  #fail(name: string, error: unknown): void {
    if (this.signal.aborted) return
    if (this.#onFailure === undefined) this.#failure = { error }
    else this.#onFailure(name, error)
    this.stop(error)
  }
}
