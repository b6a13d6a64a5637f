// A simulated machine with its container runtime and its disk. After powerOff it has a new, empty runtime; what was
// written to the disk is still there.
import type { SimulatedPod, SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import type { NetworkListener } from '../../machine/network/simulated-network.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'

export class SimulatedMachine {
  readonly shutdown = new ManualShutdown()
  readonly disk = new SimulatedDisk()
  readonly #make: (disk: SimulatedDisk) => SimulatedRuntime
  #runtime: SimulatedRuntime
  #isOn = true

  constructor(make: (disk: SimulatedDisk) => SimulatedRuntime) {
    this.#make = make
    this.#runtime = make(this.disk)
  }

  get runtime(): SimulatedRuntime {
    return this.#runtime
  }

  get isOn(): boolean {
    return this.#isOn
  }

  podAt(address: string): SimulatedPod | undefined {
    return this.#runtime.podAt(address)
  }

  nodeListenerAt(port: number): NetworkListener | undefined {
    return this.#runtime.nodeListenerAt(port)
  }

  powerOn(): void {
    this.#isOn = true
  }

  powerOff(): void {
    const old = this.#runtime
    this.#isOn = false
    this.#runtime = this.#make(this.disk)
    this.disk.losePower()
    old.loseConnections()
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
