import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeQuery } from './decode-query.ts'
import { decodedQuery, nameBytes, opt, queryBytes, uint16 } from './message.harness.ts'

const label63 = 'a'.repeat(63)
const header = (counts: readonly number[] = [1, 0, 0, 0]) => [0, 7, 1, 0, ...counts.flatMap(uint16)]
const bytes = (...parts: readonly (readonly number[])[]) => Uint8Array.from(parts.flat())
const typeAndClass = [0, 1, 0, 1]

const rows: readonly [string, Uint8Array, string][] = [
  ['a plain query', queryBytes(), 'query'],
  ['a query with EDNS', queryBytes({ rest: opt(4096) }), 'query'],
  ['the root', queryBytes({ name: '' }), 'query'],
  ['the longest name', queryBytes({ name: [label63, label63, label63, 'a'.repeat(61)].join('.') }), 'query'],
  ['a name that is too long', queryBytes({ name: [label63, label63, label63, 'a'.repeat(62)].join('.') }), 'malformed'],
  [
    'a label that is too long',
    bytes(
      header(),
      [64],
      Array.from({ length: 64 }, () => 97),
      [0],
      typeAndClass,
    ),
    'malformed',
  ],
  ['a reserved kind of label', bytes(header(), [0x80, 0], typeAndClass), 'malformed'],
  ['a pointer to itself', bytes(header(), [0xc0, 12], typeAndClass), 'malformed'],
  ['a pointer into the header', bytes(header(), [0xc0, 0], typeAndClass), 'malformed'],
  ['a name without an end', bytes(header(), [3, 97, 97]), 'malformed'],
  ['a label that ends with the message', bytes(header(), [3, 97, 97, 97]), 'malformed'],
  ['a question without a class', bytes(header(), nameBytes('a'), [0, 1, 0]), 'malformed'],
  ['no question', bytes(header([0, 0, 0, 0])), 'malformed'],
  [
    'two questions',
    bytes(header([2, 0, 0, 0]), nameBytes('a'), typeAndClass, nameBytes('b'), typeAndClass),
    'malformed',
  ],
  ['an answer in a query', queryBytes({ counts: [1, 1, 0, 0] }), 'malformed'],
  ['more records than the message has', queryBytes({ counts: [1, 0, 0, 65_535] }), 'malformed'],
  ['two OPT records', queryBytes({ counts: [1, 0, 0, 2], rest: [...opt(512), ...opt(512)] }), 'malformed'],
  ['an OPT record with a name', queryBytes({ rest: [1, 97, ...opt(512)] }), 'malformed'],
  ['an OPT record that is cut off', queryBytes({ rest: opt(512).slice(0, -1) }), 'malformed'],
  ['data that are longer than the message', queryBytes({ rest: [...opt(512).slice(0, -2), 0xff, 0xff] }), 'malformed'],
  ['bytes after the end', queryBytes({ counts: [1, 0, 0, 0], rest: [0] }), 'malformed'],
  ['another opcode', queryBytes({ flags: 0x2800 }), 'unsupported-opcode'],
  ['a response', queryBytes({ flags: 0x8000 }), 'ignored'],
  ['eleven bytes', queryBytes().subarray(0, 11), 'ignored'],
  ['no bytes', new Uint8Array(0), 'ignored'],
]

describe('the decoder of queries', () => {
  for (const [name, message, kind] of rows)
    test(`${name}: ${kind}`, () => assert.equal(decodeQuery(message).kind, kind))

  test('a name is in lower case, and the question keeps its letters', () => {
    const { question, questionBytes } = decodedQuery({ name: 'WeB.Default' })
    assert.equal(question.name, 'web.default')
    assert.deepEqual([...questionBytes.subarray(0, 13)], nameBytes('WeB.Default'))
  })

  test('bytes that are not plain are escaped', () => {
    const decoded = decodeQuery(bytes(header(), [4, 46, 92, 0, 255], [0], typeAndClass))
    assert.equal(decoded.kind === 'query' && decoded.question.name, '\\.\\\\\\000\\255')
  })

  test('the size and flags of EDNS', () => {
    assert.deepEqual(decodedQuery({ rest: opt(4096, { dnssecOk: true }) }).edns, {
      udpBytes: 4096,
      version: 0,
      dnssecOk: true,
    })
    assert.equal(decodedQuery({ rest: opt(512, { version: 1 }) }).edns?.version, 1)
  })
})
