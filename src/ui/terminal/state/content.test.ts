import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { textContent, wrapped } from './content.ts'
import { kindLines, helpLines } from './help.ts'
import { actions, bindings } from './bindings.ts'
import { pods, resources } from './state.harness.ts'
import { textView } from './views.ts'

const lines: [what: string, line: string, width: number, wrapped: string[]][] = [
  ['a line that fits', 'a b c', 5, ['a b c']],
  ['words', 'one two three', 8, ['one two', 'three']],
  ['an indentation, which remains', '  one two three', 9, ['  one two', '  three']],
  ['a long word', 'abcdefghij', 4, ['abcd', 'efgh', 'ij']],
  ['wide characters', '日本語日本語', 5, ['日本', '語日', '本語']],
]
for (const [what, line, width, expected] of lines)
  test(`a line is wrapped: ${what}`, () => deepEqual(wrapped(line, width), expected))

test('the filter of logs selects lines, that of other texts does not', () => {
  const object = { resource: pods, namespace: 'default', name: 'a' }
  const content = ['GET /healthz', 'Error: none', 'get /']
  const logs = {
    ...textView(1, { kind: 'logs', object, container: '', isPrevious: false }),
    lines: content,
    filter: 'get',
  }
  deepEqual(textContent(logs, 80), ['GET /healthz', 'get /'])
  equal(textContent(logs, 40), textContent(logs, 80), 'lines that are not wrapped do not depend on the width')
  deepEqual(textContent({ ...textView(1, { kind: 'yaml', object }), lines: content, filter: 'get' }, 80), content)
})

test('every action has a key, no key has two actions in one view, and the help lists all of them', () => {
  deepEqual(
    actions.filter((action) => !bindings.some((binding) => binding.action === action)),
    [],
  )
  // Keys for some kinds have the action of the kind; every kind of the tests is tried.
  for (const resource of resources) {
    const bound = bindings
      .filter(({ isFor }) => isFor === undefined || isFor(resource))
      .flatMap(({ keys, views }) => views.flatMap((view) => keys.map((key) => `${view} ${key}`)))
    deepEqual(bound.length, new Set(bound).size, resource.kind)
  }
  const listed = helpLines.join('\n')
  for (const { label } of bindings) equal(listed.includes(label), true, label)
})

test('kinds are listed by name with their short names', () => {
  const [head, ...rows] = kindLines(resources)
  equal(head, 'NAME                       SHORTNAMES  APIVERSION               KIND                      NAMESPACED')
  equal(rows[0]?.replaceAll(/ +/g, ' '), 'configmaps cm v1 ConfigMap true')
  equal(rows.length, resources.length)
})
