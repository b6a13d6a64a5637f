// Tables for RuntimeClass.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { runtimeClass } from './runtime-class.ts'

testInvalidObjects(runtimeClass, [
  ['a handler', { handler: 'runc' }, []],
  ['no handler', {}, [/^handler: Invalid value: "": a lowercase RFC 1123 label must consist/]],
  [
    'negative overhead',
    { handler: 'h', overhead: { podFixed: { cpu: '-1', memory: '1Gi' } } },
    ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'invalid labels and tolerations',
    { handler: 'h', scheduling: { nodeSelector: { a: '!' }, tolerations: [{ operator: 'Exists', value: 'v' }] } },
    [
      /^scheduling\.nodeSelector: Invalid value: "!": a valid label must be/,
      /^scheduling\.tolerations\[0\]\.operator: Invalid value: "v": value must be empty/,
    ],
  ],
])

test('the handler of a RuntimeClass is immutable', () => {
  deepEqual(updateErrorsOf(runtimeClass, { handler: 'a' }, { handler: 'a', overhead: {} }), [])
  deepEqual(updateErrorsOf(runtimeClass, { handler: 'a' }, { handler: 'b' }), [
    'handler: Invalid value: "b": field is immutable',
  ])
})

test('the cells of a RuntimeClass', () => {
  deepEqual(cellsOf(runtimeClass, { handler: 'runc' }), ['x', 'runc', '60s'])
})
