import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryBudget, type Account, type BudgetedConnection, type HoldKind } from './memory-budget.ts'

const limits = { heldBytesMax: 100, heldBytesPerClientMax: 60, heldBytesPerConnectionMax: 40 }
const kinds: Readonly<Record<string, HoldKind>> = { r: 'receiving', p: 'processing', s: 'sending', '!': 'stalled' }

/** `a1.2 r30`: request 2 on connection 1 of client a has received 30 bytes. */
const table: [name: string, steps: string, shed: string][] = [
  ['nothing is shed within the shares', 'a1.1 r40, b1.1 r40, c1.1 r20', ''],
  ['a connection beyond its share loses its largest body', 'a1.1 r5, a1.2 r25, a1.3 r11', 'a1.2'],
  ['of equal bodies the latest is rejected', 'a1.1 r20, a1.2 r20, a1.3 r20', 'a1.3'],
  ['a client beyond its share loses its largest body', 'a1.1 r30, a2.1 r20, a3.1 r15', 'a1.1'],
  ['a small client is not shed for a large one', 'b1.1 r1, a1.1 r40, a2.1 r20, c1.1 r40', 'a1.1'],
  [
    'the client that holds the most bytes is shed, not the one with the largest request',
    'b1.1 r35, a1.1 r30, a2.1 r30, c1.1 r6',
    'a2.1',
  ],
  ['the newest client is shed when it holds the most bytes', 'a1.1 r30, b1.1 r30, c1.1 r35, c2.1 r10', 'c1.1'],
  ['a body that grows counts with all of it', 'a1.1 r20, a1.1 r30, a1.2 r10, a1.1 r31', 'a1.1'],
  ['a body that the handler has received is counted, but not shed', 'a1.1 p39, a1.2 r2', 'a1.2'],
  ['bodies that handlers have are not shed at all', 'a1.1 p60, b1.1 p60', ''],
  ['a response that is being received may exceed the limits', 'a1.1 s90', ''],
  ['a stalled response is shed for handler bodies', 'a1.1 s90, a1.1 !90', 'a1.1'],
  ['when the budget is used up, stalled responses are shed first', 'a1.1 s70, b1.1 !20, b2.1 !5, c1.1 s10', 'b1.1'],
  ['when the budget is used up and nothing is stalled, the largest is shed', 'a1.1 s70, b1.1 s20, c1.1 s11', 'a1.1'],
  ['a single response may exceed the budget', 'a1.1 s1000', ''],
  ['released bytes are not counted', 'a1.1 r40, a1.1 r0, a1.2 r40', ''],
  ['several are shed when one is not enough', 'a1.1 r20, a1.2 r20, a1.3 p30', 'a1.2 a1.1'],
]
for (const [name, steps, wanted] of table)
  test(name, () => {
    const shed: string[] = []
    let bytes = 0
    const budget = new MemoryBudget(limits, (each) => (bytes += each))
    const connections = new Map<string, BudgetedConnection>()
    const accounts = new Map<string, Account>()
    const accountOf = (request: string) => {
      const key = request.slice(0, 2)
      const connection = connections.get(key) ?? { client: key.slice(0, 1) }
      connections.set(key, connection)
      const account = accounts.get(request) ?? budget.account(connection, () => shed.push(request))
      accounts.set(request, account)
      return account
    }
    for (const step of steps.split(', ')) {
      const [request = '', held = ''] = step.split(' ')
      accountOf(request).hold(Number(held.slice(1)), kinds[held.slice(0, 1)] ?? 'receiving')
    }
    deepEqual(shed.join(' '), wanted)
    equal(bytes > 0, wanted !== '')
    for (const account of accounts.values()) account.release()
    equal(budget.bytes, 0)
  })

test('of many small holders a sixteenth is shed at a time', () => {
  let shed = 0
  const max = 1_600
  const budget = new MemoryBudget(
    { heldBytesMax: max, heldBytesPerClientMax: max, heldBytesPerConnectionMax: max },
    () => shed++,
  )
  const connection = { client: 'a' }
  for (let count = 0; count < max; count++) budget.account(connection, () => {}).hold(1, 'stalled')
  equal(shed, 0)
  budget.account(connection, () => {}).hold(1, 'stalled')
  equal(shed, max / 16)
})
