// Rows of bookmarks, compared with kube-apiserver's in test/facts/bookmark-cells.json.
import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { present } from '../../base/assert.ts'
import { kinds } from '../../api/kinds.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { bookmarkTable } from './table.ts'

const options = { include: 'Metadata', nowMs: 0, withColumns: false } as const
const recorded = JSON.parse(
  readFileSync(new URL('../../../test/facts/bookmark-cells.json', import.meta.url), 'utf8'),
) as [apiVersion: string, plural: string, cells: unknown[]][]
const unwatched = [
  'bindings',
  'componentstatuses',
  'localsubjectaccessreviews',
  'nodes',
  'pods',
  'selfsubjectaccessreviews',
  'selfsubjectreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
  'tokenreviews',
]
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

  for (const [apiVersion, plural, expected] of recorded)
    test(`has upstream’s cells of an empty object: ${plural} of ${apiVersion}`, () => {
      const kind = present(
        kinds.find((each) => each.apiVersion === apiVersion && each.plural === plural),
        `no kind ${plural}`,
      )
      const { rows } = bookmarkTable(kind, { resourceVersion: '1' }, '1', options) as { rows: { cells: unknown[] }[] }
      // Upstream's rows of IPAddresses have an age, but no column for it.
      deepEqual(rows[0]?.cells, expected.slice(0, kind.columns.length))
    })

  test('has upstream’s cells for every kind that can be watched', () => {
    const known = new Set(recorded.map(([apiVersion, plural]) => `${apiVersion} ${plural}`))
    const missing = kinds.filter(({ apiVersion, plural }) => !known.has(`${apiVersion} ${plural}`))
    deepEqual(missing.map(({ plural }) => plural).toSorted(), unwatched)
  })
})
