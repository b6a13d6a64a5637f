import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { runToEnd } from '../../base/work/work-slice.ts'
import { commandText } from '../../base/net/command-text.ts'
import { contentCommands, contentDiff, diffCommands, noDiff, type TableContent } from './table-content.ts'

const content = (
  elements: Record<string, Record<string, string>>,
  objects: Record<string, readonly ['chain' | 'set', ...string[]]> = {},
): TableContent =>
  ({
    elements: new Map(Object.entries(elements).map(([set, each]) => [set, new Map(Object.entries(each))])),
    objects: new Map(Object.entries(objects).map(([name, [kind, ...lines]]) => [name, { kind, lines }])),
  }) as unknown as TableContent

const cases: readonly (readonly [string, TableContent, TableContent, readonly string[]])[] = [
  ['equal contents need no command', content({ s: { a: '' } }), content({ s: { a: '' } }), []],
  [
    'a changed value is removed and added',
    content({ m: { a: 'goto x', b: 'drop' } }),
    content({ m: { a: 'goto y', b: 'drop' } }),
    ['delete element inet t m { a }', 'add element inet t m { a : goto y }'],
  ],
  [
    'what is removed is removed after its references',
    content({ m: { a: 'goto x' } }, { x: ['chain', 'ip saddr @s accept'], s: ['set', 'type ipv4_addr;'] }),
    content({}),
    ['delete element inet t m { a }', 'flush chain inet t x', 'delete chain inet t x', 'delete set inet t s'],
  ],
  [
    'what is added is added before its references',
    content({}),
    content({ m: { a: 'goto x' } }, { x: ['chain', 'ip saddr @s accept', 'drop'], s: ['set', 'type ipv4_addr;'] }),
    [
      'add chain inet t x',
      'add set inet t s { type ipv4_addr; }',
      'add rule inet t x ip saddr @s accept',
      'add rule inet t x drop',
      'add element inet t m { a : goto x }',
    ],
  ],
  [
    'a changed chain keeps its name',
    content({}, { x: ['chain', 'drop'] }),
    content({}, { x: ['chain', 'accept'] }),
    ['flush chain inet t x', 'add rule inet t x accept'],
  ],
]

for (const [name, before, now, expected] of cases)
  test(name, () => {
    const diff = noDiff()
    runToEnd((slice) => contentDiff(before, now, diff, slice))
    deepEqual([...diffCommands(commandText`inet t`, diff)], expected)
  })

test('several contents fill an empty table together', () =>
  deepEqual(
    [
      ...contentCommands(commandText`inet t`, [
        content({ m: { a: 'goto x' } }, { x: ['chain', 'drop'] }),
        content({ m: { b: 'drop' }, s: { c: '' } }),
      ]),
    ],
    [
      'add chain inet t x',
      'add rule inet t x drop',
      'add element inet t m { a : goto x, b : drop }',
      'add element inet t s { c }',
    ],
  ))

test('many elements are several commands', () => {
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`e${index}`, '']))
  const diff = noDiff()
  runToEnd((slice) => contentDiff(content({}), content({ s: many }), diff, slice))
  deepEqual(
    [...diffCommands(commandText`inet t`, diff)].map((command) => command.split(',').length),
    [1_000, 1],
  )
})
