import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { mayHaveDuplicateKeys, strictErrors } from './duplicate-keys.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const many = Array.from({ length: 200 }, (_, index) => `"k${index}":${index}`)

const texts: [why: string, text: string, repeats: boolean][] = [
  ['no object', '[1,"a","a",null]', false],
  ['different keys', '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', false],
  ['values as keys', '{"a":"b","b":"a","c":["a","b","c"]}', false],
  ['quotes and braces inside text', String.raw`{"a":"{\"a\":1,\"a\":2}","b":"\\","c":"}"}`, false],
  ['a duplicate key at the top', '{"a":1,"a":2}', true],
  ['a duplicate key with spaces', '{ "a" : 1 ,\n "a" : 2 }', true],
  ['twice inside', '{"a":{"b":[{"c":1,"d":{},"c":2}]}}', true],
  ['a duplicate key after an inner object', '{"a":{"x":1},"b":[],"a":2}', true],
  ['keys that are not ASCII', '{"é":"é","è":1}', false],
  ['many keys', `{${many.join(',')}}`, false],
  ['a duplicate among many keys', `{${many.join(',')},"k3":0}`, true],
  ['a duplicate empty key', '{"":1,"":2}', true],
]
for (const [why, text, repeats] of texts)
  test(`keys: ${why}`, () => {
    JSON.parse(text)
    equal(mayHaveDuplicateKeys(bytesOf(text)), repeats)
    equal(strictErrors([], bytesOf(text)).length > 0, repeats)
  })

const found: [why: string, text: string, unknown: string[], errors: string[]][] = [
  ['the path to a field', '{"metadata":{"name":"a","name":"b"}}', [], ['duplicate field "metadata.name"']],
  [
    'indices of lists and keys of maps',
    '{"spec":{"c":[{"a":1},[0,{"a":1,"a":2}]],"m":{"x.y":{"z":1,"z":1}}}}',
    [],
    ['duplicate field "spec.c[1][1].a"', 'duplicate field "spec.m.x.y.z"'],
  ],
  ['each once', '{"a":1,"a":2,"a":3}', [], ['duplicate field "a"']],
  ['a key with another escape', String.raw`{"a":1,"\u0061":2}`, [], ['duplicate field "a"']],
  ['an escaped key is not a duplicate by itself', String.raw`{"a":1,"\u0062":2}`, [], []],
  [
    'unknown fields and duplicates in the order of the text',
    '{"x":1,"a":1,"a":2,"s":{"y":1,"b":1,"b":2},"z":0}',
    ['x', 's.y', 'z'],
    ['unknown field "x"', 'duplicate field "a"', 'unknown field "s.y"', 'duplicate field "s.b"', 'unknown field "z"'],
  ],
  [
    'duplicates inside an unknown field are ignored',
    '{"x":{"a":1,"a":2},"x":[{"b":1,"b":1}]}',
    ['x'],
    ['unknown field "x"'],
  ],
  [
    'duplicates below the depth of API types are ignored',
    `${'{"a":'.repeat(200)}{"b":1,"b":1}${'}'.repeat(200)}`,
    [],
    [],
  ],
]
for (const [why, text, unknown, errors] of found)
  test(`strict decoding: ${why}`, () => deepEqual(strictErrors(unknown, bytesOf(text)), errors))

test('strict decoding reports at most a hundred errors', () => {
  const names = Array.from({ length: 300 }, (_, index) => `f${index}`)
  equal(strictErrors(names).length, 100)
  equal(strictErrors([], bytesOf(`{${names.map((name) => `"${name}":1,"${name}":2`).join(',')}}`)).length, 100)
})
