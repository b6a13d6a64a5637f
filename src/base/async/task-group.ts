// TaskGroup owns background tasks: it starts them, stops them with one signal and waits for them. The first failure
// stops the other tasks; join() throws it, or onFailure gets it.

export interface TaskGroupOptions {
  /** Stops the group when aborted. */
  readonly signal?: AbortSignal
  /** Called once with the first failure, for owners that do not join. */
  readonly onFailure?: (task: string, error: unknown) => void
}

/** A task that has not ended. */
interface Running {
  readonly name: string
  ended: Promise<void>
}

export class TaskGroup implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Set<Running>()
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
    return Array.from(this.#running, ({ name }) => name)
  }

  /** Starts a task. It must end soon after its signal is aborted. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) return
    const running: Running = { name, ended: Promise.resolve() }
    this.#running.add(running)
    running.ended = this.#run(running, task)
  }

  async #run(running: Running, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await task(this.signal)
    } catch (error) {
      this.#fail(running.name, error)
    }
    this.#running.delete(running)
  }

  /** Signals every task to end, without waiting. */
  stop(reason: unknown = new DOMException('the task group was stopped', 'AbortError')): void {
    this.#controller.abort(reason)
  }

  /** Waits until every task has ended; throws the first failure. */
  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(Array.from(this.#running, ({ ended }) => ended))
    this.#unlink()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    await this.join()
  }

  // Errors after the stop are expected: sleep, fetch and others reject when aborted.
  #fail(name: string, error: unknown): void {
    if (this.signal.aborted) return
    if (this.#onFailure === undefined) this.#failure = { error }
    else this.#onFailure(name, error)
    this.stop(error)
  }
}
