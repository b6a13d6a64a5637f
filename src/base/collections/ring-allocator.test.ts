import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { RingAllocator } from './ring-allocator.ts'

const rows: [name: string, sizes: number[], places: (number | undefined)[], kept: boolean[]][] = [
  ['allocations follow one another when any number fits', [8, 3, 5], [0, 8, 16], [true, true, true]],
  ['the last allocation replaces the first', [16, 16, 16], [0, 16, 32], [false, true, true]],
  ['an allocation that does not fit before the end starts at 0', [24, 16], [0, 32], [false, true]],
  ['an allocation larger than the ring has no place', [40, 8], [undefined, 0], [false, true]],
]
for (const [name, sizes, places, kept] of rows)
  test(name, () => {
    const memory = new RingAllocator(32)
    const taken = sizes.map((size) => memory.allocate(size))
    deepEqual(taken, places)
    deepEqual(
      taken.map((place) => place !== undefined && memory.isAllocated(place)),
      kept,
    )
    for (const place of taken) if (place !== undefined) equal(memory.bytesAt(place).offset, place % 32)
  })
