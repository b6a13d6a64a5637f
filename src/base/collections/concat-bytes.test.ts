import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { concatBytes } from './concat-bytes.ts'

const cases: [pieces: number[][], whole: number[]][] = [
  [[], []],
  [[[1, 2]], [1, 2]],
  [
    [[], [1], [], [2, 3]],
    [1, 2, 3],
  ],
]
for (const [pieces, whole] of cases)
  test(`${JSON.stringify(pieces)} is ${JSON.stringify(whole)}`, () =>
    deepEqual(concatBytes(pieces.map((piece) => Uint8Array.from(piece))), Uint8Array.from(whole)))
