// Resource versions that are no numbers: upstream rejects them differently in a list and in other reads.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { listOptionsOf, revisionOf, watchOptionsOf } from './list-options.ts'

const valid: readonly (readonly [text: string, revision: number | undefined])[] = [
  ['', undefined],
  ['0', 0],
  ['0012', 12],
  ['18446744073709551615', 2 ** 64],
]
for (const [text, revision] of valid)
  test(`the resource version ${JSON.stringify(text)} is accepted`, () => {
    const query = new URLSearchParams({ resourceVersion: text })
    deepEqual(
      [revisionOf(text), watchOptionsOf(query).revision, listOptionsOf(query).revision],
      [revision, revision, revision],
    )
  })

const wrong: readonly (readonly [text: string, why: string])[] = [
  ['nonsense', 'invalid syntax'],
  ['-1', 'invalid syntax'],
  ['1.5', 'invalid syntax'],
  ['18446744073709551616', 'value out of range'],
  ['9'.repeat(1000), 'value out of range'],
]
for (const [text, why] of wrong)
  test(`the resource version ${JSON.stringify(text.slice(0, 30))} is rejected`, () => {
    const query = new URLSearchParams({ resourceVersion: text })
    const message = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`
    throws(() => revisionOf(text), { code: 500, reason: '', message })
    throws(() => watchOptionsOf(query), { code: 500, message })
    throws(() => listOptionsOf(query), { code: 400, message: `invalid resource version: ${message}` })
  })
