// SimulatedSandboxes: the sandboxes of a simulated runtime, by id and by pod.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { SimulatedSandbox } from './simulated-container.ts'

export class SimulatedSandboxes {
  readonly #byId = new Map<string, SimulatedSandbox>()
  /** By pod uid, the latest last. */
  readonly #ofPod = new Map<string, SimulatedSandbox[]>()

  get podUids(): readonly string[] {
    return [...this.#ofPod.keys()]
  }

  [Symbol.iterator](): Iterator<SimulatedSandbox> {
    return this.#byId.values()
  }

  get(id: string): SimulatedSandbox | undefined {
    return this.#byId.get(id)
  }

  latestOf(podUid: string): SimulatedSandbox | undefined {
    return this.#ofPod.get(podUid)?.at(-1)
  }

  add(sandbox: SimulatedSandbox): void {
    this.#byId.set(sandbox.id, sandbox)
    getOrInsert(this.#ofPod, sandbox.config.podUid, () => []).push(sandbox)
  }

  remove(sandbox: SimulatedSandbox): void {
    this.#byId.delete(sandbox.id)
    const { podUid } = sandbox.config
    const left = (this.#ofPod.get(podUid) ?? []).filter((other) => other !== sandbox)
    if (left.length === 0) this.#ofPod.delete(podUid)
    else this.#ofPod.set(podUid, left)
  }
}
