// SimulatedHealth: the health of a simulated runtime. It is healthy unless a test sets another state.
import { readyCondition, type RuntimeHealth } from './container-runtime.ts'

type HealthListener = (health: RuntimeHealth | undefined) => void

export class SimulatedHealth {
  #health: RuntimeHealth | undefined = { runtime: readyCondition, network: readyCondition }
  readonly #listeners = new Set<HealthListener>()

  watch(listener: HealthListener, signal: AbortSignal): void {
    listener(this.#health)
    this.#listeners.add(listener)
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true })
  }

  /** `undefined` means that the runtime does not respond. Listeners are called every time, as a real runtime is polled. */
  set(health: RuntimeHealth | undefined): void {
    this.#health = health
    for (const listener of this.#listeners) listener(health)
  }
}
