// Snapshot: the state of every node as the scheduler sees it, updated incrementally. Assumed pods count as bound. Each
// node has a slot, a small index into flat arrays.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingResized } from '../../api/core/v1/pod/pod-requests.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import type { DeviceClass } from '../../api/resource/v1/device-class.ts'
import type { NamespaceLabels } from './affinity-term.ts'
import { ClassResources } from './class-resources.ts'
import { HeldTerms } from './held-terms.ts'
import { NodeColumns } from './node-columns.ts'
import { nodeOrder, zoneOf } from './node-order.ts'
import { PodCounts } from './pod-counts.ts'
import { podFacts, type PodFacts } from './pod-facts.ts'
import { ResourceTable } from './resource-table.ts'
import { Topology } from './topology.ts'

/** A pod that counts on a node. */
export interface PlacedPod {
  readonly facts: PodFacts
  readonly pod: Pod
  readonly slot: number
}

const capacityInitial = 64
/** Domains of removed nodes are discarded beyond this number per slot. */
const domainsPerSlotMax = 4

export class Snapshot {
  readonly columns: NodeColumns
  readonly counts: PodCounts
  readonly resources: ResourceTable
  readonly terms = new HeldTerms()
  readonly #nodes: (Node | undefined)[] = []
  readonly #names: string[] = []
  readonly #slots = new Map<string, number>()
  readonly #free: number[] = []
  readonly #podsOn: Map<string, PlacedPod>[] = []
  /** By uid: each pod counts on at most one node. */
  readonly #placed = new Map<string, PlacedPod>()
  readonly #topologies = new Map<string, Topology>()
  readonly #namespaces = new Map<string, Labels>()
  readonly #classes = new ClassResources()
  #order: Int32Array | undefined
  #namesNow: readonly string[] | undefined
  #size = 0
  #capacity = capacityInitial
  #version = 0
  #versions = new Float64Array(capacityInitial)

  constructor() {
    this.columns = new NodeColumns(this.#nodes, capacityInitial)
    this.counts = new PodCounts(capacityInitial, () => this.#placed.values())
    this.resources = new ResourceTable(capacityInitial)
  }

  /** Number of nodes. */
  get size(): number {
    return this.#size
  }

  /** Number of pods that count on a node. */
  get podCount(): number {
    return this.#placed.size
  }

  /** Slots of all nodes, alternating between zones. */
  get order(): Int32Array {
    return (this.#order ??= nodeOrder(this.#nodes, this.#size))
  }

  get namespaces(): NamespaceLabels {
    return this.#namespaces
  }

  /** Changes whenever the node or one of its pods changes. */
  versionOf(slot: number): number {
    return this.#versions[slot] as number
  }

  /** The versions by slot, for loops over many nodes; valid until a node is added. */
  get versions(): Float64Array {
    return this.#versions
  }

  /** The slot of an existing node. */
  slotOf(name: string): number | undefined {
    const slot = this.#slots.get(name)
    return slot === undefined || this.#nodes[slot] === undefined ? undefined : slot
  }

  nodeAt(slot: number): Node | undefined {
    return this.#nodes[slot]
  }

  nameAt(slot: number): string {
    return this.#names[slot] ?? ''
  }

  /** Names by slot. The returned list is not modified later. */
  get names(): readonly string[] {
    return (this.#namesNow ??= [...this.#names])
  }

  podsOn(slot: number): Iterable<PlacedPod> {
    return this.#podsOn[slot]?.values() ?? []
  }

  placement({ metadata: { uid } }: Pod): PlacedPod | undefined {
    return this.#placed.get(uid)
  }

  topology(key: string): Topology {
    const known = this.#topologies.get(key)
    if (known !== undefined && known.size <= domainsPerSlotMax * this.#capacity) return known
    const made = new Topology(key, ++this.#version, this.columns)
    this.#topologies.set(key, made)
    return made
  }

  setNode(node: Node): void {
    const slot = this.#slotFor(node.metadata.name)
    const before = this.#nodes[slot]
    if (before === undefined) this.#size++
    this.#nodes[slot] = node
    if (before === undefined || !isSameZone(before, node)) this.#order = undefined
    this.resources.setNode(slot, node)
    this.columns.forget(slot)
    this.#touch(slot)
  }

  removeNode(name: string): void {
    const slot = this.slotOf(name)
    if (slot === undefined) return
    this.#size--
    this.#nodes[slot] = undefined
    this.#order = undefined
    this.resources.removeNode(slot)
    this.columns.forget(slot)
    this.#touch(slot)
    this.#release(slot)
  }

  setNamespace(name: string, labels: Labels | undefined): void {
    if (equalValues(this.#namespaces.get(name), labels)) return
    if (labels === undefined) this.#namespaces.delete(name)
    else this.#namespaces.set(name, labels)
    this.counts.clear()
  }

  /** Records which extended resource a device class provides. Node data may depend on it. */
  setDeviceClass(name: string, now: DeviceClass | undefined): void {
    if (this.#classes.set(name, now)) for (let slot = 0; slot < this.#names.length; slot++) this.#touch(slot)
  }

  deviceClassFor(resource: string): string | undefined {
    return this.#classes.classFor(resource)
  }

  /** Counts the newest version of the pod on the node. The node may be added after its pods. */
  place(pod: Pod, nodeName: string): PlacedPod {
    const known = this.#placed.get(pod.metadata.uid)
    if (known !== undefined && this.#names[known.slot] === nodeName && isSamePlacement(known.pod, pod)) {
      const renewed = { ...known, pod }
      this.#placed.set(pod.metadata.uid, renewed)
      this.#podsOn[known.slot]?.set(pod.metadata.uid, renewed)
      return renewed
    }
    if (known !== undefined) this.remove(pod)
    const placed = { facts: podFacts(pod), pod, slot: this.#slotFor(nodeName) }
    this.#shift(placed, 1)
    return placed
  }

  remove({ metadata: { uid } }: Pod): void {
    const placed = this.#placed.get(uid)
    if (placed === undefined) return
    this.#shift(placed, -1)
    this.#release(placed.slot)
  }

  #shift(placed: PlacedPod, by: 1 | -1): void {
    const { slot, facts, pod } = placed
    const { uid } = pod.metadata
    if (by === 1) {
      this.#placed.set(uid, placed)
      this.#podsOn[slot]?.set(uid, placed)
    } else {
      this.#placed.delete(uid)
      this.#podsOn[slot]?.delete(uid)
    }
    this.resources.shift(slot, facts.requests, facts.counted, by)
    this.counts.shift(slot, pod, by)
    this.terms.shift(slot, facts, by)
    this.#touch(slot)
  }

  #slotFor(name: string): number {
    const known = this.#slots.get(name)
    if (known !== undefined) return known
    const slot = this.#free.pop() ?? this.#names.length
    if (slot >= this.#capacity) this.#grow()
    this.#slots.set(name, slot)
    this.#names[slot] = name
    this.#namesNow = undefined
    this.#nodes[slot] = undefined
    this.#podsOn[slot] = new Map()
    return slot
  }

  // Invariant: a slot is in use while its node exists or pods count on it.
  #release(slot: number): void {
    if (this.#nodes[slot] !== undefined || (this.#podsOn[slot]?.size ?? 0) > 0) return
    if (!this.#slots.delete(this.#names[slot] ?? '')) return
    this.#names[slot] = ''
    this.#namesNow = undefined
    this.#free.push(slot)
  }

  #touch(slot: number): void {
    this.#versions[slot] = ++this.#version
  }

  #grow(): void {
    this.#capacity *= 2
    const versions = new Float64Array(this.#capacity)
    versions.set(this.#versions)
    this.#versions = versions
    for (const part of [this.resources, this.columns, this.counts]) part.grow(this.#capacity)
  }
}

/** Whether two versions of a pod count the same. Fast for the common case that only the status changes. */
const isSamePlacement = (a: Pod, b: Pod): boolean =>
  a === b ||
  (a.metadata.generation === b.metadata.generation &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    equalValues(a.metadata.labels, b.metadata.labels) &&
    !isBeingResized(a) &&
    !isBeingResized(b))

const isSameZone = (a: Node, b: Node): boolean => zoneOf(a) === zoneOf(b)
