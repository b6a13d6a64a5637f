// Names of kinds, and kinds that are known by their names only.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from './bare-kind.ts'
import { apiVersionOf, isSameResource, qualifiedResource } from './kind.ts'
import { reviewShape } from './review-kind.ts'

const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', namespaced: true }
const widget = bareKind({ ...names, group: 'example.com', version: 'v1' })

test('a kind that is known by its names accepts every object', () => {
  const object = { metadata: { name: '?' }, spec: { a: 1 } } as never
  deepEqual(widget.validateName('?'), [])
  equal(widget.applyDefaults(object), object)
  deepEqual(widget.validate(object), [])
  deepEqual(widget.validateUpdate(object, object), [])
  equal(widget.apiVersion, 'example.com/v1')
})

test('a review has any name and is never updated', () => {
  deepEqual([reviewShape.validateName(), reviewShape.validateUpdate()], [[], []])
})

const others: readonly (readonly [what: string, more: object, isSame: boolean])[] = [
  ['itself with another value', {}, true],
  ['another version', { version: 'v2' }, false],
  ['another resource', { plural: 'gadgets' }, false],
]
for (const [what, more, isSame] of others)
  test(`a resource compared with ${what}`, () =>
    equal(isSameResource(widget, bareKind({ ...names, group: 'example.com', version: 'v1', ...more })), isSame))

test('names of groups', () => {
  equal(apiVersionOf({ group: '', version: 'v1' }), 'v1')
  equal(qualifiedResource({ plural: 'pods', group: '' }), 'pods')
  equal(qualifiedResource(widget), 'widgets.example.com')
})
