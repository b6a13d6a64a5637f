// A component of a cluster: something that can be started, killed and started again, and finds its state anew.
import { TaskGroup } from '../base/task-group.ts'
import { errorText, type Log } from '../base/log.ts'

export class Component {
  readonly name: string
  readonly #begin: (tasks: TaskGroup) => void
  readonly #log: Log
  #tasks: TaskGroup | undefined

  constructor(name: string, log: Log, begin: (tasks: TaskGroup) => void) {
    this.name = name
    this.#begin = begin
    this.#log = log
  }

  get isRunning(): boolean {
    return this.#tasks !== undefined
  }

  start(): void {
    if (this.#tasks !== undefined) return
    const onFailure = (task: string, error: unknown) =>
      this.#log.error('a component failed', { component: this.name, task, error: errorText(error) })
    this.#tasks = new TaskGroup({ onFailure })
    this.#begin(this.#tasks)
  }

  /** Ends it as a crash would: at once, wherever it is. */
  async kill(): Promise<void> {
    const tasks = this.#tasks
    this.#tasks = undefined
    tasks?.stop()
    await tasks?.join()
  }
}
