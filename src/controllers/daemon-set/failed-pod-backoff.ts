// FailedPods: how long a node waits for the replacement of a daemon's failed pod. The first goes at once, each further
// one after twice the time of the one before; a new template begins anew.
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'

const replaceBackoff: Backoff = { initialMs: 1_000, maxMs: 900_000 }
/** A node on which nothing failed for so long begins anew. */
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

  /** Goes on with what an earlier plan kept. */
  static restore(state: unknown, hash: string, nowMs: number): FailedPodBackoff {
    const known = state instanceof Map ? [...(state as Map<string, FailedNode>)] : []
    const valid = known.filter(([, replaced]) => replaced.hash === hash && nowMs - replaced.lastMs <= forgetMs)
    return new FailedPodBackoff(new Map(valid), hash, nowMs)
  }

  get state(): ReadonlyMap<string, unknown> | undefined {
    return this.#nodes.size === 0 ? undefined : this.#nodes
  }

  /** 0 when the failed pod of the node may be replaced now, which counts; else how long to wait. */
  tryReplace(nodeName: string): number {
    const { failures = 0, lastMs = this.#nowMs } = this.#nodes.get(nodeName) ?? {}
    const dueMs = failures === 0 ? this.#nowMs : lastMs + backoffMs(replaceBackoff, failures - 1)
    if (dueMs > this.#nowMs) return dueMs - this.#nowMs
    this.#nodes.set(nodeName, { hash: this.#hash, failures: failures + 1, lastMs: this.#nowMs })
    return 0
  }
}
