// A component of a cluster. It can be started, killed and started again, and recovers its state from the API server. After
// a failure it restarts when all tasks of the failed run have ended, so that two instances never act at the same time.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { onNextTurn } from '../../base/async/event-loop-turn.ts'

/** Delay between a failure and the restart. */
const restartMs = 1_000
/** How long a restart waits for the tasks of the failed run. A task that ignores its signal must not block it forever. */
const endMsMax = 30_000

/** What a run of a component holds until after its tasks have ended. */
export interface Held {
  release(): Promise<void>
}

export interface ComponentDeps {
  readonly clock: Clock
  readonly log: Log
}

type State =
  | { readonly kind: 'stopped' }
  /** Starts in the next turn of the event loop, unless aborted. */
  | { readonly kind: 'scheduled'; readonly cancel: AbortController }
  | { readonly kind: 'running'; readonly tasks: TaskGroup }
  /** Failed; starts again after `ended`, unless aborted. */
  | { readonly kind: 'restarting'; readonly cancel: AbortController; readonly ended: Promise<void> }

export class Component {
  readonly name: string
  readonly #startTasks: (tasks: TaskGroup) => Held | void
  readonly #deps: ComponentDeps
  #state: State = { kind: 'stopped' }
  /** Of the last run. */
  #held: Held | undefined

  constructor(name: string, deps: ComponentDeps, startTasks: (tasks: TaskGroup) => Held | void) {
    this.name = name
    this.#startTasks = startTasks
    this.#deps = deps
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running'
  }

  /** No effect while it is running or about to restart. */
  start(): void {
    if (this.#state.kind === 'running' || this.#state.kind === 'restarting') return
    if (this.#state.kind === 'scheduled') this.#state.cancel.abort()
    this.#run()
  }

  /** Starts it in the next turn of the event loop, unless it is killed before. */
  startNextTurn(): void {
    if (this.#state.kind !== 'stopped') return
    const cancel = new AbortController()
    this.#state = { kind: 'scheduled', cancel }
    onNextTurn(() => {
      if (!cancel.signal.aborted) this.#run()
    })
  }

  /** Stops it, and then releases its lease, so that the next leader need not wait. */
  async stop(): Promise<void> {
    await this.kill()
    await this.#held?.release()
    this.#held = undefined
  }

  /** Stops it as a crash would: immediately, whatever it is doing. Resolves when all its tasks have ended. */
  async kill(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'stopped' }
    switch (state.kind) {
      case 'stopped':
        return
      case 'scheduled':
        return state.cancel.abort()
      case 'running':
        state.tasks.stop()
        return state.tasks.join()
      case 'restarting':
        state.cancel.abort()
        return state.ended
      default:
        return state satisfies never
    }
  }

  #run(): void {
    const tasks = new TaskGroup({ onFailure: (task, error) => this.#failed(tasks, task, error) })
    this.#state = { kind: 'running', tasks }
    this.#held = this.#startTasks(tasks) ?? undefined
  }

  #failed(tasks: TaskGroup, task: string, error: unknown): void {
    this.#deps.log.error('a component failed and will be started again', {
      component: this.name,
      task,
      error: errorText(error),
    })
    const cancel = new AbortController()
    const ended = tasks.join()
    this.#state = { kind: 'restarting', cancel, ended }
    void this.#restart(tasks, ended, cancel.signal)
  }

  async #restart(tasks: TaskGroup, ended: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    try {
      const [hasEnded] = await Promise.all([this.#hasEnded(ended, signal), clock.sleep(restartMs, signal)])
      if (!hasEnded)
        log.error('a component is started again although tasks of its failed run have not ended', {
          component: this.name,
          tasks: tasks.running,
        })
      this.#run()
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Whether the failed run ends in time. */
  async #hasEnded(ended: Promise<void>, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = this.#deps.clock.after(endMsMax, () => resolve(false))
    void ended.then(() => resolve(true))
    try {
      return await unlessAborted(promise, signal)
    } finally {
      timer.cancel()
    }
  }
}
