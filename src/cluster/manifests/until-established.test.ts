// Waiting for definitions: those that are listed, those that are watched, refusals, and a watch that ends.
import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { untilEstablished } from './until-established.ts'

const ctx = context(new AbortController().signal)

type Condition = readonly [type: string, status: string, reason?: string, message?: string]

const definition = (name: string, ...conditions: readonly Condition[]) => ({
  metadata: { name },
  status: {
    conditions: conditions.map(([type, status, reason, message]) => ({ type, status, reason, message })),
  },
})
const established: Condition = ['Established', 'True']
const refused: Condition = ['NamesAccepted', 'False', 'PluralConflict', '"gears" is already in use']

type Definition = ReturnType<typeof definition>
type Event = readonly [type: string, object: Definition]

/** Returns how many events of the watch were read. */
async function wait(listed: readonly Definition[], events: readonly Event[]): Promise<number> {
  let read = 0
  const definitions = {
    list: () => Promise.resolve({ items: listed, revision: 7 }),
    async *watch({ resourceVersion }: { resourceVersion: string }) {
      equal(resourceVersion, '7')
      for (const [type, object] of events) {
        read++
        yield await Promise.resolve({ type, object })
      }
    },
  }
  const sources = new Map([
    ['gears.test', 'CustomResourceDefinition gears.test'],
    ['cogs.test', 'CustomResourceDefinition cogs.test'],
  ])
  await untilEstablished({ of: () => definitions } as unknown as Client, sources, ctx)
  return read
}

const gears = definition('gears.test', established)
const cogs = definition('cogs.test', established)
const newCogs = definition('cogs.test', ['NamesAccepted', 'True'])

const ends: readonly [name: string, listed: readonly Definition[], events: readonly Event[], read: number][] = [
  ['all are established', [gears, definition('other.test'), cogs], [], 0],
  ['one is established later', [gears, newCogs], [['MODIFIED', cogs]], 1],
  [
    'a deletion does not count',
    [gears],
    [
      ['DELETED', cogs],
      ['ADDED', newCogs],
      ['MODIFIED', cogs],
      ['MODIFIED', gears],
    ],
    3,
  ],
]
for (const [name, listed, events, read] of ends)
  test(`the wait ends: ${name}`, async () => equal(await wait(listed, events), read))

test('a refusal is reported with its cause, also of one that existed', async () => {
  const message =
    /^Error: CustomResourceDefinition cogs\.test: cogs\.test is not served: PluralConflict: "gears" is already in use$/
  await rejects(wait([gears, definition('cogs.test', refused)], []), message)
  await rejects(wait([gears], [['ADDED', definition('cogs.test', refused)]]), message)
  await rejects(wait([definition('cogs.test', ['NamesAccepted', 'False'])], []), /cogs\.test is not served: : $/)
})

test('a watch that ends is an error that names what is missing', () =>
  rejects(wait([], [['ADDED', gears]]), /^Error: the watch ended before cogs\.test was established$/))
