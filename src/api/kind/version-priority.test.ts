import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from './version-priority.ts'

test('versions are sorted as upstream documents it for CustomResourceDefinitions', () => {
  const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  deepEqual(sorted.toReversed().toSorted(compareVersions), sorted)
})

const pairs: readonly (readonly [a: string, b: string, order: number])[] = [
  ['v1', 'v1', 0],
  ['v1beta1', 'v1beta2', 1],
  ['v1beta2', 'v1beta1', -1],
  ['v1', 'other', -1],
  ['other', 'v1', 1],
  ['a', 'b', -1],
  ['b', 'a', 1],
  ['a', 'a', 0],
]
for (const [a, b, order] of pairs)
  test(`the order of ${a} and ${b}`, () => equal(Math.sign(compareVersions(a, b)), order))
