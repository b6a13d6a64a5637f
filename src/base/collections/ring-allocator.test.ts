import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { RingAllocator } from './ring-allocator.ts'

const rows: [name: string, sizes: number[], places: (number | undefined)[], kept: boolean[]][] = [
  ['one after the other, each where any number may stand', [8, 3, 5], [0, 8, 16], [true, true, true]],
  ['what comes last takes the place of what came first', [16, 16, 16], [0, 16, 32], [false, true, true]],
  ['what does not fit before the end begins anew', [24, 16], [0, 32], [false, true]],
  ['what is larger than all of it has no place', [40, 8], [undefined, 0], [false, true]],
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
