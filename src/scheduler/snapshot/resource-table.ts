// ResourceTable: allocatable and requested resources of every node, one array per resource, by node slot.
import { amountsFrom, type Amounts } from '../../api/core/v1/pod/pod-requests.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'

export interface ResourceColumns {
  readonly allocatable: Float64Array
  readonly requested: Float64Array
}

export class ResourceTable {
  #capacity: number
  #columns = new Map<string, ResourceColumns>()
  /** Requested cpu and memory, with defaults for containers without requests. */
  counted: { cpu: Float64Array; memory: Float64Array }
  podCount: Int32Array
  podsMax: Float64Array

  constructor(capacity: number) {
    this.#capacity = capacity
    this.counted = { cpu: new Float64Array(capacity), memory: new Float64Array(capacity) }
    this.podCount = new Int32Array(capacity)
    this.podsMax = new Float64Array(capacity)
    for (const name of ['cpu', 'memory', 'ephemeral-storage']) this.of(name)
  }

  /** The arrays are valid until the table grows. */
  of(resource: string): ResourceColumns {
    const known = this.#columns.get(resource)
    if (known !== undefined) return known
    const made = { allocatable: new Float64Array(this.#capacity), requested: new Float64Array(this.#capacity) }
    this.#columns.set(resource, made)
    return made
  }

  grow(capacity: number): void {
    this.#capacity = capacity
    for (const [name, { allocatable, requested }] of this.#columns)
      this.#columns.set(name, { allocatable: grown(allocatable, capacity), requested: grown(requested, capacity) })
    this.counted = { cpu: grown(this.counted.cpu, capacity), memory: grown(this.counted.memory, capacity) }
    const podCount = new Int32Array(capacity)
    podCount.set(this.podCount)
    this.podCount = podCount
    this.podsMax = grown(this.podsMax, capacity)
  }

  setNode(slot: number, { status }: Node): void {
    const amounts = amountsFrom(status.allocatable)
    for (const name of amounts.keys()) this.of(name)
    for (const [name, { allocatable }] of this.#columns) allocatable[slot] = amounts.get(name) ?? 0
    this.podsMax[slot] = quantityUnits(status.allocatable?.['pods'])
  }

  removeNode(slot: number): void {
    for (const { allocatable } of this.#columns.values()) allocatable[slot] = 0
    this.podsMax[slot] = 0
  }

  shift(slot: number, requests: Amounts, counted: Amounts, by: 1 | -1): void {
    for (const [name, amount] of requests) {
      const { requested } = this.of(name)
      requested[slot] = (requested[slot] as number) + amount * by
    }
    const { cpu, memory } = this.counted
    cpu[slot] = (cpu[slot] as number) + (counted.get('cpu') ?? 0) * by
    memory[slot] = (memory[slot] as number) + (counted.get('memory') ?? 0) * by
    this.podCount[slot] = (this.podCount[slot] as number) + by
  }
}

function grown(array: Float64Array, capacity: number): Float64Array {
  const larger = new Float64Array(capacity)
  larger.set(array)
  return larger
}
