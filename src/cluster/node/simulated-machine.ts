// A simulated machine: what runs its containers, until its power goes. Then nothing of it is left but the machine.
import type { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'

export class SimulatedMachine {
  readonly shutdown = new ManualShutdown()
  readonly #make: () => SimulatedRuntime
  #runtime: SimulatedRuntime

  constructor(make: () => SimulatedRuntime) {
    this.#make = make
    this.#runtime = make()
  }

  get runtime(): SimulatedRuntime {
    return this.#runtime
  }

  powerOff(): void {
    const old = this.#runtime
    this.#runtime = this.#make()
    void endAll(old, new AbortController().signal)
  }
}

/** Programs are told to end; nobody waits for those that do not. */
async function endAll(runtime: SimulatedRuntime, signal: AbortSignal): Promise<void> {
  for (const uid of await runtime.podUids(signal)) {
    const found = await runtime.inspect(uid, signal)
    if (found !== undefined) void runtime.removeSandbox(found.sandboxId, signal)
  }
}
