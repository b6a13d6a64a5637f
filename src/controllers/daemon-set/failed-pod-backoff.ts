// FailedPodBackoff: delays the replacement of failed daemon pods, per node. The first failure is replaced at once; the
// delay doubles with each further failure. A new template resets it.
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'

const replaceBackoff: Backoff = { initialMs: 1_000, maxMs: 900_000 }
/** The backoff of a node without failures is reset after this time. */
const forgetMs = 2 * replaceBackoff.maxMs

interface FailedNode {
  readonly hash: string
  readonly failures: number
  readonly lastMs: number
}

export class FailedPodBackoff {
  readonly #nodes: Map<string, FailedNode>
  readonly #hash: string
  readonly #nowMs: number

  private constructor(nodes: Map<string, FailedNode>, hash: string, nowMs: number) {
    this.#nodes = nodes
    this.#hash = hash
    this.#nowMs = nowMs
  }

  /** Restores the state of an earlier plan. */
  static restore(state: unknown, hash: string, nowMs: number): FailedPodBackoff {
    const known = state instanceof Map ? [...(state as Map<string, FailedNode>)] : []
    const valid = known.filter(([, replaced]) => replaced.hash === hash && nowMs - replaced.lastMs <= forgetMs)
    return new FailedPodBackoff(new Map(valid), hash, nowMs)
  }

  get state(): ReadonlyMap<string, unknown> | undefined {
    return this.#nodes.size === 0 ? undefined : this.#nodes
  }

  /** Returns 0 and counts the failure when the pod may be replaced now; otherwise returns how long to wait. */
  tryReplace(nodeName: string): number {
    const { failures = 0, lastMs = this.#nowMs } = this.#nodes.get(nodeName) ?? {}
    const dueMs = failures === 0 ? this.#nowMs : lastMs + backoffMs(replaceBackoff, failures - 1)
    if (dueMs > this.#nowMs) return dueMs - this.#nowMs
    this.#nodes.set(nodeName, { hash: this.#hash, failures: failures + 1, lastMs: this.#nowMs })
    return 0
  }
}
