import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { ObjectCache } from './object-cache.ts'

interface Listed extends ApiObject {
  readonly values: readonly string[]
}

const listed = (name: string, values: readonly string[]): Listed => ({
  apiVersion: 'v1',
  kind: 'Listed',
  metadata: { name } as ApiObject['metadata'],
  values,
})
const names = (count: number, first = 0) => Array.from({ length: count }, (_, index) => `v${first + index}`)

for (const count of [4, 1_000])
  test(`an index follows changes of an object with ${count} values`, () => {
    const cache = new ObjectCache<Listed>()
    cache.addIndex('value', ({ values }) => values)
    const found = (value: string) => cache.byIndex('value', value).map(({ metadata }) => metadata.name)
    cache.replace('a', listed('a', names(count)))
    cache.replace('b', listed('b', ['v0', 'v3']))
    deepEqual([found('v0'), found('v3'), found(`v${count}`)], [['a', 'b'], ['a', 'b'], []])
    cache.replace('a', listed('a', names(count, 1)))
    deepEqual([found('v0'), found('v3'), found(`v${count}`)], [['b'], ['a', 'b'], ['a']])
    cache.replace('a', undefined)
    deepEqual([found('v0'), found('v3'), found(`v${count}`)], [['b'], ['b'], []])
  })
