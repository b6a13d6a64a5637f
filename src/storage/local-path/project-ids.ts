// ProjectIds: numbers of directories for quotas, unique on each node. They are stored in the volumes; numbers of volumes
// that are being created are kept here.

/** Above those that users and kubelets assign. */
const projectIdMin = 2_000_000

export class ProjectIds {
  /** By node and volume. */
  readonly #taken = new Map<string, Map<string, number>>()

  /** The id of a volume; `stored` are those of the node's existing volumes. */
  take(node: string, volume: string, stored: readonly number[]): number {
    const ofNode = this.#taken.get(node) ?? new Map<string, number>()
    this.#taken.set(node, ofNode)
    const known = ofNode.get(volume)
    if (known !== undefined) return known
    const used = new Set([...stored, ...ofNode.values()])
    let id = projectIdMin
    while (used.has(id)) id++
    ofNode.set(volume, id)
    return id
  }

  release(node: string, volume: string): void {
    this.#taken.get(node)?.delete(volume)
  }
}
