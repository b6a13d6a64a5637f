import { deepEqual, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { kinds } from '../../api/kinds.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { bookmarkTable } from './table.ts'

const options = { include: 'Metadata', nowMs: 0, withColumns: false } as const
const annotations = { 'k8s.io/initial-events-end': 'true' }

suite('the Table of a bookmark', () => {
  test('has the row of an object without fields, as upstream', () => {
    const object = {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '227', annotations },
    }
    deepEqual(bookmarkTable(secret, { resourceVersion: '227', annotations }, '227', options), {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '227' },
      columnDefinitions: null,
      rows: [{ cells: ['', '', 0, '<unknown>'], object }],
    })
  })

  test('has cells for every kind', () => {
    for (const kind of kinds) ok(bookmarkTable(kind, { resourceVersion: '1' }, '1', options))
  })
})
