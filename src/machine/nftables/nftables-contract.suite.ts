// What every driver of nftables does.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { Nftables } from './nftables.ts'

/** `create` returns a driver for which a transaction with `invalid` among its commands fails. */
export function nftablesContract(name: string, create: () => Nftables, invalid: CommandText): void {
  test(`${name}: a transaction is applied`, async () => {
    await using nftables = create()
    deepEqual(
      await nftables.apply([commandText`add table inet contract-a`, commandText`delete table inet contract-a`]),
      { kind: 'applied' },
    )
  })

  test(`${name}: a failed transaction is a value, and the next one is applied`, async () => {
    await using nftables = create()
    const failed = await nftables.apply([commandText`add table inet contract-b`, invalid])
    equal(failed.kind, 'failed')
    equal(failed.kind === 'failed' && failed.messages.length, 1)
    equal(await nftables.list(commandText`list table inet contract-b`), undefined)
    deepEqual(
      await nftables.apply([commandText`add table inet contract-b`, commandText`delete table inet contract-b`]),
      { kind: 'applied' },
    )
  })

  test(`${name}: transactions that are sent together are applied in their order`, async () => {
    await using nftables = create()
    const results = await Promise.all([
      nftables.apply([commandText`add table inet contract-c`]),
      nftables.apply([commandText`add chain inet contract-c x`]),
      nftables.apply([commandText`delete table inet contract-c`]),
    ])
    deepEqual(
      results.map(({ kind }) => kind),
      ['applied', 'applied', 'applied'],
    )
  })
}
