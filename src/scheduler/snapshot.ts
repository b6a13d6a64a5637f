// Snapshot: the state of every node as the scheduler sees it, kept up to date by deltas. Assumed pods count as bound.
import {
  addResources,
  noResources,
  resourcesFrom,
  resourcesOf,
  subtractResources,
  type Resources,
} from '../api/core/v1/requests.ts'
import { quantityUnits } from '../schema/quantity.ts'
import type { Node } from '../api/core/v1/node.ts'
import type { Pod } from '../api/core/v1/pod.ts'

export interface NodeState {
  readonly node: Node
  readonly allocatable: Resources
  readonly requested: Resources
  readonly podCount: number
  readonly podsMax: number
}

interface Placed {
  readonly nodeName: string
  readonly resources: Resources
}

const podsMaxDefault = 110

export class Snapshot {
  readonly #nodes = new Map<string, NodeState>()
  /** By uid: each pod counts once, on one node. */
  readonly #placed = new Map<string, Placed>()

  get nodes(): IterableIterator<NodeState> {
    return this.#nodes.values()
  }

  get size(): number {
    return this.#nodes.size
  }

  get(name: string): NodeState | undefined {
    return this.#nodes.get(name)
  }

  setNode(node: Node): void {
    const { name } = node.metadata
    const known = this.#nodes.get(name)
    const allocatable = resourcesFrom(node.status.allocatable)
    const podsMax =
      node.status.allocatable?.['pods'] === undefined ? podsMaxDefault : quantityUnits(node.status.allocatable['pods'])
    if (known !== undefined) this.#nodes.set(name, { ...known, node, allocatable, podsMax })
    else this.#nodes.set(name, { node, allocatable, podsMax, ...this.#usageOf(name) })
  }

  removeNode(name: string): void {
    this.#nodes.delete(name)
  }

  place(pod: Pod, nodeName: string): void {
    const known = this.#placed.get(pod.metadata.uid)
    if (known?.nodeName === nodeName) return
    if (known !== undefined) this.remove(pod)
    const resources = resourcesOf(pod.spec)
    this.#placed.set(pod.metadata.uid, { nodeName, resources })
    this.#adjust(nodeName, (state) => ({
      requested: addResources(state.requested, resources),
      podCount: state.podCount + 1,
    }))
  }

  remove({ metadata: { uid } }: Pod): void {
    const placed = this.#placed.get(uid)
    if (placed === undefined) return
    this.#placed.delete(uid)
    this.#adjust(placed.nodeName, (state) => ({
      requested: subtractResources(state.requested, placed.resources),
      podCount: state.podCount - 1,
    }))
  }

  #adjust(nodeName: string, change: (state: NodeState) => Pick<NodeState, 'requested' | 'podCount'>): void {
    const state = this.#nodes.get(nodeName)
    if (state !== undefined) this.#nodes.set(nodeName, { ...state, ...change(state) })
  }

  // A node may become known after pods that are bound to it.
  #usageOf(nodeName: string): Pick<NodeState, 'requested' | 'podCount'> {
    const own = [...this.#placed.values()].filter((placed) => placed.nodeName === nodeName)
    return { requested: own.map(({ resources }) => resources).reduce(addResources, noResources), podCount: own.length }
  }
}
