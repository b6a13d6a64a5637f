import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { lookup, setOwn } from './lookup.ts'

const record = JSON.parse('{"a": 1, "toString": 2, "__proto__": 3}') as Record<string, number>
const rows: [record: Record<string, number> | null | undefined, name: string, found: number | undefined][] = [
  [record, 'a', 1],
  [record, 'b', undefined],
  [record, 'toString', 2],
  [record, '__proto__', 3],
  [record, 'constructor', undefined],
  [record, 'hasOwnProperty', undefined],
  [{}, '__proto__', undefined],
  [undefined, 'a', undefined],
  [null, 'a', undefined],
]
for (const [from, name, found] of rows) test(`${name} is ${found}`, () => equal(lookup(from, name), found))

test('a property of any name can be set', () => {
  const set: Record<string, unknown> = {}
  for (const name of ['a', '__proto__', 'constructor']) setOwn(set, name, { polluted: true })
  deepEqual(Object.keys(set), ['a', '__proto__', 'constructor'])
  equal(Object.getPrototypeOf(set), Object.prototype)
  setOwn(set, '__proto__', 1)
  equal(lookup(set, '__proto__'), 1)
})
