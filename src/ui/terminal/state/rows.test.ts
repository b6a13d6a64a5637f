import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { visibleRows, type Row, type Selection } from './rows.ts'
import { podColumns, podRow } from './state.harness.ts'

const selection = (rows: readonly Row[], given: Partial<Selection> = {}): Selection => ({
  columns: podColumns,
  rows: new Map(rows.map((row) => [row.key, row])),
  filter: '',
  sort: undefined,
  ownerUid: undefined,
  ...given,
})

const rows = [
  podRow('a', { restarts: '12 (3m ago)', ageMs: 1_000, namespace: 'z', ready: '0/1' }),
  podRow('b', { restarts: '3', ageMs: 90_000, namespace: 'y', ready: '10/10' }),
  podRow('c', { restarts: '0', ageMs: 30_000, namespace: 'x', owner: 'u', ready: '2/2' }),
]

const orders: [column: string, isDescending: boolean, order: string][] = [
  ['Restarts', false, 'cba'],
  ['Restarts', true, 'abc'],
  ['Ready', false, 'acb'],
  ['Age', false, 'acb'],
  ['Age', true, 'bca'],
  ['Namespace', false, 'cba'],
  ['Name', false, 'abc'],
  ['Node', false, 'cba'],
]
for (const [column, isDescending, order] of orders)
  test(`rows by ${column}${isDescending ? ', the other way' : ''}`, () => {
    const shown = visibleRows(selection(rows, { sort: { column, isDescending } }))
    equal(shown.map(({ name }) => name).join(''), order)
  })

test('rows are sorted by namespace and name, and may be restricted to an owner', () => {
  equal(
    visibleRows(selection(rows))
      .map(({ name }) => name)
      .join(''),
    'cba',
  )
  deepEqual(
    visibleRows(selection(rows, { ownerUid: 'u' })).map(({ name }) => name),
    ['c'],
  )
})

test('the same selection is computed once', () => {
  const many = selection(Array.from({ length: 5_000 }, (_, index) => podRow(`web-${index}`)))
  equal(visibleRows(many), visibleRows({ ...many }))
  equal(visibleRows({ ...many, filter: 'web-49' }).length, 111)
})
