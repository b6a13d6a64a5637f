import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { CommandText } from '../../base/net/command-text.ts'
import type { TransactionResult } from './nftables.ts'
import { rejectedObjects } from './rejected-objects.ts'

const exists = 'Could not process rule: File exists'
const names = (count: number, prefix = 'o') => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** A kernel that rejects the objects of these names. */
function kernel(isBad: (key: string) => boolean, isBroken = false) {
  const trials: (readonly string[])[] = []
  return {
    trials,
    apply(keys: readonly string[]): Promise<TransactionResult> {
      trials.push(keys)
      const bad = keys.filter(isBad).map((key) => `${key} is bad`)
      return Promise.resolve({ kind: 'failed', messages: [...bad, ...(isBroken ? ['no memory'] : []), exists] })
    },
  }
}
const search = (nftables: ReturnType<typeof kernel>, accepted: string[], suspects: string[]) =>
  rejectedObjects({ nftables, accepted, suspects, trialCommands: (keys) => keys as readonly CommandText[] })

const rows: readonly (readonly [string, accepted: string[], suspects: string[], bad: string[], trialsMax: number])[] = [
  ['no bad object', names(9), ['x'], [], 3],
  ['one changed object', names(1_000), ['x'], ['x'], 3],
  ['one of many changed objects', names(1_000), names(64, 'x'), ['x17'], 15],
  ['an object that was accepted before', names(64), ['x'], ['o3'], 15],
  ['two objects', names(5), names(8, 'x'), ['x0', 'x7'], 15],
]
for (const [name, accepted, suspects, bad, trialsMax] of rows)
  test(`rejected objects: ${name}`, async () => {
    const nftables = kernel((key) => bad.includes(key))
    const { rejected, undecided } = await search(nftables, accepted, suspects)
    deepEqual(
      [...rejected],
      bad.map((key) => [key, `${key} is bad`]),
    )
    deepEqual(undecided, [])
    ok(nftables.trials.length <= trialsMax, `${nftables.trials.length} trials`)
  })

test('no object is rejected if a table without objects is not accepted', async () => {
  const { rejected } = await search(
    kernel(() => true, true),
    ['a'],
    ['b'],
  )
  equal(rejected.size, 0)
})

test('a search has a bounded number of trials; the rest is undecided', async () => {
  const nftables = kernel((key) => key.startsWith('x'))
  const { rejected, undecided } = await search(nftables, names(10), names(1_000, 'x'))
  equal(nftables.trials.length, 64)
  ok(rejected.size > 0)
  equal(rejected.size + undecided.length, 1_000)
})
