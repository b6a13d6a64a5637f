import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { listEverySeconds, replacement, rowChange, type WireTable } from './table-rows.ts'

const row = (name: string, cells: readonly unknown[], more: object = {}) => ({
  cells,
  object: { metadata: { name, namespace: 'default', uid: `uid-${name}`, ...more } },
})
const columnDefinitions = [{ name: 'Name' }, { name: 'Ready', priority: 0 }, { name: 'Node', priority: 1 }]
const table = (...rows: ReturnType<typeof row>[]): WireTable => ({ kind: 'Table', columnDefinitions, rows })

const shown = (name: string, cells: readonly string[]) => ({
  key: `default/${name}`,
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  cells,
  labels: {},
  createdAt: undefined,
  isDeleting: false,
  owners: [],
})

test('the rows of all pages have the columns of the first', () => {
  deepEqual(replacement([table(row('a', ['a', '1/1', 'n'])), { kind: 'Table', rows: [row('b', ['b', 3, null])] }]), {
    kind: 'replace',
    columns: [
      { name: 'Name', priority: 0 },
      { name: 'Ready', priority: 0 },
      { name: 'Node', priority: 1 },
    ],
    rows: [shown('a', ['a', '1/1', 'n']), shown('b', ['b', '3', ''])],
  })
})

test('metadata of a row are those of its object', () => {
  const creationTimestamp = '2026-03-01T12:00:00Z'
  const more = {
    creationTimestamp,
    deletionTimestamp: creationTimestamp,
    labels: { app: 'web' },
    ownerReferences: [{ uid: 'owner' }],
  }
  const change = replacement([table(row('a', ['a'], more))])
  deepEqual(change.kind === 'replace' && change.rows, [
    {
      ...shown('a', ['a']),
      createdAt: creationTimestamp,
      isDeleting: true,
      labels: { app: 'web' },
      owners: ['owner'],
    },
  ])
})

test('a list that is not a table has names and ages', () => {
  const columns = [
    { name: 'Name', priority: 0 },
    { name: 'Age', priority: 0 },
  ]
  const items = [{ metadata: { name: 'a', namespace: 'default', uid: 'uid-a' } }]
  deepEqual(replacement([{ kind: 'ShipList', items }]), { kind: 'replace', columns, rows: [shown('a', ['a', ''])] })
  deepEqual(rowChange([{ type: 'ADDED', object: items[0] }]), {
    kind: 'change',
    set: [shown('a', ['a', ''])],
    removed: [],
  })
})

test('empty tables have no rows', () => {
  for (const rows of [null, []]) {
    const change = replacement([{ kind: 'Table', columnDefinitions: null, rows }])
    deepEqual(change.kind === 'replace' && change.rows, [])
  }
})

for (const [what, types, isSet] of [
  ['added', ['ADDED'], true],
  ['deleted', ['DELETED'], false],
  ['deleted and created again', ['DELETED', 'ADDED'], true],
  ['changed and deleted', ['MODIFIED', 'DELETED'], false],
] as const)
  test(`an object that was ${what} in one batch`, () => {
    const events = types.map((type, index) => ({ type, object: table(row('a', ['a', `${index}`])) }))
    deepEqual(rowChange(events), {
      kind: 'change',
      set: isSet ? [shown('a', ['a', `${types.length - 1}`])] : [],
      removed: isSet ? [] : ['default/a'],
    })
  })

test('tables with durations are listed again', () => {
  equal(listEverySeconds([{ columnDefinitions: [{ name: 'Last Seen' }] }]), 15)
  equal(listEverySeconds([table()]), undefined)
  equal(listEverySeconds([]), undefined)
})
