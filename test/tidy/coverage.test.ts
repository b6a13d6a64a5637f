// How coverage is computed from V8's reports, and how floors are checked.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
// @ts-expect-error -- plain JavaScript, as all scripts
import { coverageErrors, markExecuted, measuredPlaces, raisedFloors } from '../../scripts/coverage.mjs'

const source = `import type { A } from './a.ts'
interface B extends A {}
export const f = (a: B | undefined) => (a ? 1 : 2)
export function g(x: number): number {
  if (x > 1) return x && f(undefined)
  switch (x) {
    case 0:
      return 0
    default:
      throw new Error('no')
  }
}
`
const textsAt = (offsets: readonly number[]) => offsets.map((offset) => source.slice(offset).split(/[\n;]/)[0])

test('lines are those on which a statement starts; branches are arms that contain code', () => {
  const { lines, branches } = measuredPlaces('src/a.ts', source)
  deepEqual(textsAt(lines), [
    'const f = (a: B | undefined) => (a ? 1 : 2)',
    'if (x > 1) return x && f(undefined)',
    'switch (x) {',
    'return 0',
    "throw new Error('no')",
  ])
  deepEqual(textsAt(branches).toSorted(), [
    '1 : 2)',
    '2)',
    'f(undefined)',
    'return 0',
    'return x && f(undefined)',
    "throw new Error('no')",
  ])
})

test('the innermost range decides, and one process that executed a place is enough', () => {
  const executed = new Uint8Array(6)
  const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count })
  markExecuted(executed, [{ ranges: [range(0, 6, 1)] }, { ranges: [range(1, 5, 0), range(2, 3, 4)] }])
  deepEqual([...executed], [1, 0, 1, 0, 0, 1])
  markExecuted(executed, [{ ranges: [range(0, 6, 1)] }, { ranges: [range(1, 5, 2), range(3, 4, 0)] }])
  deepEqual([...executed], [1, 1, 1, 0, 1, 1])
})

const coverage = new Map([
  ['src/a', { lines: [90, 100], branches: [3, 4] }],
  ['src/b', { lines: [0, 0], branches: [0, 0] }],
])

const rows: readonly (readonly [name: string, floors: object, errors: string[]])[] = [
  ['at the floors', { 'src/a': { lines: 90, branches: 75 }, 'src/b': { lines: 100, branches: 100 } }, []],
  [
    'below a floor',
    { 'src/a': { lines: 91, branches: 75 }, 'src/b': { lines: 100, branches: 100 } },
    ['src/a: 90.00 % of lines are covered by unit tests, the floor is 91 %'],
  ],
  ['a folder without a floor', { 'src/a': { lines: 0, branches: 0 } }, ['src/b: add it to coverage-floors.json']],
  [
    'a floor without a folder',
    {
      'src/a': { lines: 0, branches: 0 },
      'src/b': { lines: 0, branches: 0 },
      'src/c': { lines: 0, branches: 0 },
    },
    ['src/c: remove it from coverage-floors.json, the folder does not exist'],
  ],
]
for (const [name, floors, errors] of rows)
  test(`coverage ${name}`, () => deepEqual(coverageErrors(coverage, floors), errors))

test('floors are raised and never lowered', () =>
  deepEqual(raisedFloors(coverage, { 'src/a': { lines: 95, branches: 10 } }), {
    'src/a': { lines: 95, branches: 74 },
    'src/b': { lines: 99, branches: 99 },
  }))
