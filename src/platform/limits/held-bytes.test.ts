import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { HeldBytes } from './held-bytes.ts'
import { listenLimitsDefault } from './listen-limits.ts'
import { MemoryBudget } from './memory-budget.ts'

/** Each second: the unsent bytes and the bytes sent so far, in kilobytes. */
const table: [name: string, seconds: readonly (readonly [unsent: number, sent: number])[], isShed: boolean][] = [
  [
    'a response that the client does not take',
    [
      [100, 5],
      [100, 5],
      [100, 5],
      [100, 5],
      [100, 5],
    ],
    true,
  ],
  [
    'a response that the client takes',
    [
      [100, 5],
      [80, 25],
      [60, 45],
      [40, 65],
      [20, 85],
    ],
    false,
  ],
  [
    'a response that is refilled as fast as it is taken',
    [
      [100, 5],
      [100, 15],
      [100, 25],
      [100, 35],
      [100, 45],
    ],
    false,
  ],
  [
    'a response that is taken now and then',
    [
      [100, 5],
      [100, 5],
      [100, 6],
      [100, 6],
      [100, 7],
    ],
    false,
  ],
  [
    'a response that is taken again, and then no more',
    [
      [100, 5],
      [100, 6],
      [100, 6],
      [100, 6],
      [100, 6],
    ],
    true,
  ],
  [
    'a connection without a response',
    [
      [0, 5],
      [0, 5],
      [0, 5],
      [0, 5],
      [0, 5],
    ],
    false,
  ],
]
for (const [name, seconds, isShed] of table)
  test(`${name} is ${isShed ? '' : 'not '}shed beyond the limit of its client`, () => {
    const shed: string[] = []
    const budget = new MemoryBudget({ ...listenLimitsDefault, heldBytesPerClientMax: 1 }, () => {})
    const held = new HeldBytes(budget, { client: 'a' }, () => shed.push(name))
    for (const [unsent, sent] of seconds) held.measure({ unsentBytes: unsent << 10, sentBytes: sent << 10 }, 0, false)
    deepEqual(shed, isShed ? [name] : [])
  })
