// What every driver of nftables does.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Nftables } from './nftables.ts'

/** `create` returns a driver for which a transaction with `invalid` among its commands fails. */
export function nftablesContract(name: string, create: () => Nftables, invalid: string): void {
  test(`${name}: a transaction is applied`, async () => {
    await using nftables = create()
    deepEqual(await nftables.apply(['add table inet contract-a', 'delete table inet contract-a']), { kind: 'applied' })
  })

  test(`${name}: a failed transaction is a value, and the next one is applied`, async () => {
    await using nftables = create()
    const failed = await nftables.apply(['add table inet contract-b', invalid])
    equal(failed.kind, 'failed')
    equal(failed.kind === 'failed' && failed.messages.length, 1)
    equal(await nftables.list('list table inet contract-b'), undefined)
    deepEqual(await nftables.apply(['add table inet contract-b', 'delete table inet contract-b']), { kind: 'applied' })
  })

  test(`${name}: transactions that are sent together are applied in their order`, async () => {
    await using nftables = create()
    const results = await Promise.all([
      nftables.apply(['add table inet contract-c']),
      nftables.apply(['add chain inet contract-c x']),
      nftables.apply(['delete table inet contract-c']),
    ])
    deepEqual(
      results.map(({ kind }) => kind),
      ['applied', 'applied', 'applied'],
    )
  })
}
