// A simulated machine with its container runtime. After powerOff it has a new, empty runtime.
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

/** Ends the programs without waiting for them. */
async function endAll(runtime: SimulatedRuntime, signal: AbortSignal): Promise<void> {
  for (const uid of await runtime.podUids(signal)) {
    const found = await runtime.inspect(uid, signal)
    if (found !== undefined) void runtime.removeSandbox(found.sandboxId, signal)
  }
}
