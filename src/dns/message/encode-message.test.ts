import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeQuery } from './decode-query.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeError, encodeQuery, encodeResponse, udpBytesOf, type ResponseContent } from './encode-message.ts'
import { readUint16 } from './header.ts'
import { decodedQuery, nameBytes, opt, queryBytes, uint16 } from './message.harness.ts'
import { recordType, type RecordData, type ResourceRecord } from './record.ts'

const name = 'web.default.svc.cluster.local'
const record = (type: keyof typeof recordType, data: RecordData, owner = name): ResourceRecord => ({
  name: owner,
  type: recordType[type],
  ttlSeconds: 30,
  data,
})
const address = (index: number) => record('A', { kind: 'address', address: `10.0.${index >> 8}.${index & 255}` })
const content = (parts: Partial<ResponseContent>): ResponseContent => ({
  code: 0,
  isAuthoritative: true,
  answers: [],
  authority: [],
  additional: [],
  ...parts,
})

describe('a response', () => {
  const { questionBytes } = decodedQuery()

  test('repeats id, question and flags, and refers to the name of the question', () => {
    const bytes = encodeResponse(decodedQuery(), content({ answers: [address(1)] }), 512)
    assert.deepEqual(
      [...bytes],
      [
        ...[...uint16(7), ...uint16(0x8580), 0, 1, 0, 1, 0, 0, 0, 0, ...questionBytes],
        ...[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 10, 0, 0, 1],
      ],
    )
  })

  test('ends of names are compressed, except in SRV records', () => {
    const target = `peers-0.${name}`
    const other = 'mail.example.com'
    const answers = [
      record('SRV', { kind: 'location', priority: 0, weight: 1, port: 80, target }),
      record('MX', { kind: 'mail', preference: 10, target: other }),
      record('MX', { kind: 'mail', preference: 20, target: 'b.example.com' }),
    ]
    const bytes = encodeResponse(decodedQuery(), content({ answers }), 512)
    const sizes = [
      12 + questionBytes.length,
      12 + 6 + nameBytes(target).length,
      12 + 2 + nameBytes(other).length,
      12 + 2 + 4,
    ]
    assert.equal(
      bytes.length,
      sizes.reduce((sum, size) => sum + size, 0),
    )
    assert.deepEqual(decodeResponse(bytes)?.answers, answers)
  })

  const soa: RecordData = {
    kind: 'authority',
    primary: 'ns.dns.cluster.local',
    mailbox: 'hostmaster.cluster.local',
    serial: 2 ** 32 - 1,
    refreshSeconds: 7200,
    retrySeconds: 1800,
    expireSeconds: 86_400,
    minimumSeconds: 5,
  }
  const kinds: readonly [string, ResourceRecord][] = [
    ['an IPv4 address', address(1)],
    ['an IPv6 address', record('AAAA', { kind: 'address', address: 'fd00::1' })],
    ['an alias', record('CNAME', { kind: 'name', target: 'www.example.com' })],
    ['a name with escapes', record('PTR', { kind: 'name', target: 'a\\.b\\\\\\000.example' }, 'x\\.y.example')],
    ['the root', record('NS', { kind: 'name', target: '' }, '')],
    ['an authority', record('SOA', soa)],
    ['an unknown type', { ...record('HINFO', { kind: 'opaque', bytes: Uint8Array.of(1, 2, 3) }), type: 64 }],
  ]
  for (const [title, sent] of kinds)
    test(`decodes to what was encoded: ${title}`, () =>
      assert.deepEqual(decodeResponse(encodeResponse(decodedQuery(), content({ answers: [sent] }), 512))?.answers, [
        sent,
      ]))

  test('texts are written with their lengths', () => {
    const bytes = encodeResponse(
      decodedQuery(),
      content({ answers: [record('TXT', { kind: 'texts', texts: ['1.1.0', ''] })] }),
      512,
    )
    assert.deepEqual([...bytes.subarray(-9)], [0, 7, 5, 49, 46, 49, 46, 48, 0])
  })

  const many = Array.from({ length: 100 }, (_, index) => address(index))
  const truncations: readonly [string, number, number, number][] = [
    ['without EDNS', 0, 512, 29],
    ['with EDNS of 1232 bytes', 1232, 1232, 73],
    ['with a larger size than networks deliver', 4096, 1232, 73],
    ['with a smaller size than every client must accept', 100, 512, 28],
  ]
  for (const [title, size, bytesMax, count] of truncations)
    test(`is truncated ${title}`, () => {
      const query = decodedQuery(size === 0 ? {} : { rest: opt(size) })
      const bytes = encodeResponse(query, content({ answers: many }), udpBytesOf(query.edns))
      assert.ok(bytes.length <= bytesMax && bytes.length > bytesMax - 16, `${bytes.length} bytes`)
      const decoded = decodeResponse(bytes)
      assert.deepEqual([decoded?.isTruncated, decoded?.answers.length], [true, count])
    })

  test('additional records are left out without a mark', () => {
    const bytes = encodeResponse(decodedQuery(), content({ answers: [address(1)], additional: many }), 512)
    const decoded = decodeResponse(bytes)
    assert.deepEqual([decoded?.isTruncated, decoded?.additional.length], [false, 28])
  })

  for (const [what, target] of [
    ['a label that is too long', `${'a'.repeat(64)}.example`],
    ['an empty label', 'a..example'],
    ['an empty first label', '.example'],
    ['more than 255 bytes', 'abc.'.repeat(64).slice(0, -1)],
  ] as const)
    test(`a name with ${what} never damages the message`, () => {
      const bytes = encodeResponse(
        decodedQuery(),
        content({ answers: [address(1), record('CNAME', { kind: 'name', target }), address(2)] }),
        512,
      )
      assert.deepEqual(decodeResponse(bytes)?.answers, [address(1)])
    })

  test('a name of 255 bytes is written, escaped or not', () => {
    for (const target of ['abc.'.repeat(63).slice(0, -1) + '.a', '\\001\\001c.'.repeat(63) + 'a']) {
      const answers = [record('CNAME', { kind: 'name', target })]
      assert.deepEqual(decodeResponse(encodeResponse(decodedQuery(), content({ answers }), 512))?.answers, answers)
    }
  })

  test('an extended code is split between header and OPT record', () => {
    const bytes = encodeResponse(decodedQuery({ rest: opt(1232) }), content({ code: 16 }), 512)
    assert.equal(decodeResponse(bytes)?.responseCode, 16)
  })

  test('the largest message over TCP is bounded', () => {
    const answers = Array.from({ length: 5_000 }, (_, index) => address(index))
    const bytes = encodeResponse(decodedQuery(), content({ answers }), 65_535)
    assert.ok(bytes.length <= 65_535)
    assert.equal(decodeResponse(bytes)?.isTruncated, true)
  })
})

test('an error has only a header', () => {
  const bytes = encodeError(7, 0x2900, 4)
  assert.deepEqual([...bytes], [0, 7, 0xa9, 0x84, 0, 0, 0, 0, 0, 0, 0, 0])
})

test('a query for an upstream server is a valid query with EDNS', () => {
  const question = { name: 'x\\.y.example.com', type: recordType.AAAA }
  const decoded = decodeQuery(encodeQuery({ id: 99, question, dnssecOk: true, checkingDisabled: false }))
  assert.deepEqual(decoded.kind === 'query' && [decoded.id, decoded.question, decoded.edns], [
    99,
    { ...question, class: 1 },
    { udpBytes: 1232, version: 0, dnssecOk: true },
  ])
})

test('a query is not a response', () => assert.equal(decodeResponse(queryBytes()), undefined))

test('a pointer to a later position is malformed', () => {
  const bytes = encodeResponse(decodedQuery(), content({ answers: [address(1)] }), 512)
  const at = bytes.length - 16
  for (const target of [at, at + 2, 0x3fff]) {
    const changed = bytes.slice()
    changed.set(uint16(0xc000 | target), at)
    assert.equal(decodeResponse(changed), undefined)
  }
  assert.equal(readUint16(bytes, at), 0xc00c)
})
