// A component of a cluster: something that can be started, killed and started again, and finds its state anew.
// One that fails by itself is started again after a while.
import type { Clock, Timer } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { onNextTurn } from '../../base/async/event-loop-turn.ts'

const restartMs = 1_000

export interface ComponentDeps {
  readonly clock: Clock
  readonly log: Log
}

export class Component {
  readonly name: string
  readonly #startTasks: (tasks: TaskGroup) => void
  readonly #deps: ComponentDeps
  #tasks: TaskGroup | undefined
  #restart: Timer | undefined

  constructor(name: string, deps: ComponentDeps, begin: (tasks: TaskGroup) => void) {
    this.name = name
    this.#startTasks = begin
    this.#deps = deps
  }

  get isRunning(): boolean {
    return this.#tasks !== undefined
  }

  start(): void {
    if (this.#tasks !== undefined) return
    this.#restart?.cancel()
    const tasks = new TaskGroup({ onFailure: (task, error) => this.#failed(task, error) })
    this.#tasks = tasks
    this.#startTasks(tasks)
  }

  /** Starts it in the next turn of the event loop, unless it is stopped before. */
  startNextTurn(): void {
    let isCancelled = false
    this.#restart?.cancel()
    this.#restart = { cancel: () => (isCancelled = true) }
    onNextTurn(() => {
      if (!isCancelled) this.start()
    })
  }

  /** Stops it as a crash would: immediately, whatever it is doing. */
  async kill(): Promise<void> {
    this.#restart?.cancel()
    const tasks = this.#tasks
    this.#tasks = undefined
    tasks?.stop()
    await tasks?.join()
  }

  #failed(task: string, error: unknown): void {
    const { clock, log } = this.#deps
    log.error('a component failed and will be started again', { component: this.name, task, error: errorText(error) })
    this.#tasks = undefined
    this.#restart = clock.after(restartMs, () => this.start())
  }
}
