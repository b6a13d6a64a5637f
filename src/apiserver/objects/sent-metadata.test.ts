import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { withUsedMetadata } from './sent-metadata.ts'

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }
const decoded = (metadata: object) => ({
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } as unknown as ApiObject,
  warnings: ['before'],
})

const rows: readonly (readonly [what: string, sent: object, used: object, warnings: number])[] = [
  ['nothing to ignore', { name: 'a' }, { name: 'a' }, 0],
  ['a selfLink', { name: 'a', selfLink: '/x' }, { name: 'a' }, 0],
  ['one owner', { ownerReferences: [owner] }, { ownerReferences: [owner] }, 0],
  ['an owner twice', { ownerReferences: [owner, { ...owner }] }, { ownerReferences: [owner] }, 1],
  [
    'two owners with one uid',
    { ownerReferences: [owner, { ...owner, name: 'm' }] },
    { ownerReferences: [owner, { ...owner, name: 'm' }] },
    0,
  ],
]

for (const [what, sent, used, warnings] of rows)
  test(`metadata that a client sent: ${what}`, () => {
    const result = withUsedMetadata(decoded(sent))
    deepEqual(result.object.metadata, used)
    equal(result.warnings.length, 1 + warnings)
  })

test('an object whose metadata is used as it is keeps its identity', () => {
  const sent = decoded({ name: 'a', ownerReferences: [owner, { ...owner, uid: 'v' }] })
  equal(withUsedMetadata(sent), sent)
})
