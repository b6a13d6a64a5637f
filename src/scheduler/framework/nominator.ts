// Nominator: pods that are nominated to a node after preemption. They count on that node for all pods of the same or
// lower priority.
import type { Pod } from '../../api/core/v1/pod/pod.ts'

export class Nominator {
  readonly #byNode = new Map<string, Map<string, Pod>>()
  readonly #nodeOf = new Map<string, string>()

  nodeOf({ metadata: { uid } }: Pod): string | undefined {
    return this.#nodeOf.get(uid)
  }

  set(pod: Pod, nodeName: string | undefined): void {
    const { uid } = pod.metadata
    const before = this.#nodeOf.get(uid)
    if (before !== undefined && before !== nodeName) this.#forget(uid, before)
    if (nodeName === undefined) return
    this.#nodeOf.set(uid, nodeName)
    const pods = this.#byNode.get(nodeName) ?? new Map<string, Pod>()
    this.#byNode.set(nodeName, pods.set(uid, pod))
  }

  nominatedTo(nodeName: string): Iterable<Pod> {
    return this.#byNode.get(nodeName)?.values() ?? []
  }

  /** Whether there are no nominated pods, which is the common case. */
  get isEmpty(): boolean {
    return this.#byNode.size === 0
  }

  hasNominated(nodeName: string): boolean {
    return this.#byNode.has(nodeName)
  }

  #forget(uid: string, nodeName: string): void {
    this.#nodeOf.delete(uid)
    const pods = this.#byNode.get(nodeName)
    pods?.delete(uid)
    if (pods?.size === 0) this.#byNode.delete(nodeName)
  }
}
