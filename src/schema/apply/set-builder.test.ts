// Equal nodes are the same object, unless they are large: the cache would keep those.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { emptySet, type FieldSet } from './field-set.ts'
import { SetBuilder } from './set-builder.ts'

function nodeOf(children: Readonly<Record<string, FieldSet>>): FieldSet {
  const builder = new SetBuilder(false)
  for (const [element, child] of Object.entries(children)) builder.add(element, child)
  return builder.set
}

const leaves = (count: number) =>
  nodeOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f:${index}`, emptySet])))

const cases: readonly (readonly [why: string, make: () => FieldSet, isShared: boolean])[] = [
  ['a node', () => leaves(64), true],
  ['a node with a node', () => nodeOf({ 'f:a': leaves(3), 'f:b': emptySet }), true],
  ['a wide node', () => leaves(65), false],
  ['a node with a long element', () => nodeOf({ [`f:${'a'.repeat(255)}`]: emptySet }), false],
]
for (const [why, make, isShared] of cases)
  test(`${why} is ${isShared ? '' : 'not '}shared`, () => {
    const one = make()
    const other = make()
    deepEqual(one, other)
    equal(one === other, isShared)
  })

test('a node that contains a wide one is not kept', () => {
  const wide = leaves(65)
  const above = () => nodeOf({ 'f:metadata': emptySet, 'f:data': wide, 'f:kind': emptySet })
  deepEqual(above(), { 'f:metadata': {}, 'f:data': wide, 'f:kind': {} })
  equal(above() === above(), false)
  equal(nodeOf({ 'f:x': above() }) === nodeOf({ 'f:x': above() }), false)
})
