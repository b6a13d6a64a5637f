// Printer columns show what upstream shows: test/facts/printer-columns.json has its cells.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiObject } from '../../meta/object.ts'
import { printerColumns } from './printer-columns.ts'

interface Facts {
  readonly recordedAt: string
  readonly types: readonly string[]
  readonly object: ApiObject
  readonly paths: readonly (readonly [path: string, cells: readonly unknown[] | 'hidden'])[]
}

const file = new URL('../../../../test/facts/printer-columns.json', import.meta.url)
const { recordedAt, types, object, paths } = JSON.parse(readFileSync(file, 'utf8')) as Facts
const nowMs = Date.parse(recordedAt)

for (const [path, cells] of paths)
  test(`the cells of ${path}`, () => {
    const [, ...columns] = printerColumns(types.map((type) => ({ name: type, type, jsonPath: path })))
    const found = columns.map((column) => column.cell(object, nowMs))
    deepEqual(found, cells === 'hidden' ? [] : cells)
  })

test('without columns in the definition there is the age', () => {
  for (const definitions of [undefined, []])
    deepEqual(
      printerColumns(definitions).map(({ name, type, format, priority }) => [name, type, format, priority]),
      [
        ['Name', 'string', 'name', 0],
        ['Age', 'date', '', 0],
      ],
    )
})

test('a path that cannot be parsed hides its column and all columns after it', () => {
  const jsonPaths = ['.a', '.b["c"]', '.d']
  const columns = printerColumns(jsonPaths.map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath })))
  deepEqual(
    columns.map(({ name }) => name),
    ['Name', '.a'],
  )
})

test('a column without a description is described by its path', () => {
  const [name, column] = printerColumns([{ name: 'A', type: 'string', jsonPath: '.a', priority: 1, format: 'byte' }])
  equal(name?.description, 'The name of the object.')
  equal(column?.description, 'Custom resource definition column (in JSONPath format): .a')
  deepEqual([column?.priority, column?.format], [1, 'byte'])
})

test('a hostile path is parsed in linear time', () => {
  const texts = ['['.repeat(100_000), '.'.repeat(100_000), '[?('.repeat(50_000), `.${'\\'.repeat(100_001)}`]
  for (const jsonPath of texts) ok(printerColumns([{ name: 'A', type: 'string', jsonPath }]).length > 0)
  const quotes = `.a[?(@=="${'\\"'.repeat(50_000)}")]`
  equal(printerColumns([{ name: 'A', type: 'string', jsonPath: quotes }]).length, 2)
})

test('a path that selects too much has no cell', () => {
  const nested = Array.from({ length: 60 }).reduce<object>((inner) => ({ a: inner }), { a: 'x' })
  const hostile = { apiVersion: 'v1', kind: 'T', metadata: object.metadata, ...nested }
  for (const jsonPath of ['.'.repeat(40), `.a${'[0,0]'.repeat(40)}`]) {
    const [, column] = printerColumns([{ name: 'A', type: 'string', jsonPath }])
    equal(column?.cell(hostile, nowMs), null)
  }
})
