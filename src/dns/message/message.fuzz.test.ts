import assert from 'node:assert/strict'
import { fuzz, pick } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { decodeQuery } from './decode-query.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeResponse } from './encode-message.ts'
import { ipText } from '../../base/net/ip-bytes.ts'
import { decodedQuery, opt, queryBytes } from './message.harness.ts'
import { recordType, type ResourceRecord } from './record.ts'

const names = [
  '',
  'a',
  'web.default.svc.cluster.local',
  'default.svc.cluster.local',
  'x\\.y.example',
  'mail.example.com',
]

function someRecord(random: Random): ResourceRecord {
  const name = pick(random, names)
  const target = pick(random, names)
  const ttlSeconds = random.below(1000)
  const number = () => random.below(65_536)
  return pick<() => ResourceRecord>(random, [
    () => ({ name, type: recordType.A, ttlSeconds, data: { kind: 'address', address: ipText(random.bytes(4)) } }),
    () => ({
      name,
      type: recordType.AAAA,
      ttlSeconds,
      data: { kind: 'address', address: ipText(random.bytes(16)) },
    }),
    () => ({ name, type: recordType.CNAME, ttlSeconds, data: { kind: 'name', target } }),
    () => ({ name, type: recordType.MX, ttlSeconds, data: { kind: 'mail', preference: number(), target } }),
    () => ({
      name,
      type: recordType.SRV,
      ttlSeconds,
      data: { kind: 'location', priority: number(), weight: number(), port: number(), target },
    }),
    () => ({ name, type: 99, ttlSeconds, data: { kind: 'opaque', bytes: random.bytes(random.below(300)) } }),
  ])()
}

const someRecords = (random: Random, countMax: number) =>
  Array.from({ length: random.below(countMax) }, () => someRecord(random))

const someResponse = (random: Random): Uint8Array =>
  encodeResponse(
    decodedQuery({ name: 'web.default.svc.cluster.local', rest: opt(1232) }),
    {
      code: 0,
      isAuthoritative: true,
      answers: someRecords(random, 20),
      authority: someRecords(random, 3),
      additional: someRecords(random, 5),
    },
    512 + random.below(3_000),
  )

/** Changes some bytes and cuts some off. */
function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice(0, random.below(4) === 0 ? random.below(bytes.length + 1) : bytes.length)
  for (let edits = random.below(6); edits > 0 && copy.length > 0; edits--)
    copy[random.below(copy.length)] = pick(random, [random.below(256), 0xc0, 0, 0x3f, 0xff])
  return copy
}

fuzz('a damaged query is decoded to a value', {
  runs: 3_000,
  make: (random) => damaged(queryBytes({ rest: opt(1232) }), random),
  check(bytes) {
    const { kind } = decodeQuery(bytes)
    assert.ok(['query', 'malformed', 'unsupported-opcode', 'ignored'].includes(kind))
  },
})

fuzz('a damaged response is decoded or undefined, and can be encoded again', {
  runs: 3_000,
  make: (random) => damaged(someResponse(random), random),
  check(bytes) {
    const decoded = decodeResponse(bytes)
    if (decoded === undefined) return
    const { answers, authority, additional } = decoded
    const again = decodeResponse(
      encodeResponse(decodedQuery(), { code: 0, isAuthoritative: false, answers, authority, additional }, 65_535),
    )
    assert.deepEqual([again?.answers, again?.authority, again?.additional], [answers, authority, additional])
  },
})

fuzz('random bytes', {
  runs: 2_000,
  make: (random) => random.bytes(random.below(200)),
  check(bytes) {
    decodeQuery(bytes)
    decodeResponse(bytes)
  },
})

fuzz('records that fit are decoded to what was encoded', {
  runs: 1_000,
  make: (random) => someRecords(random, 40),
  check(answers) {
    const bytes = encodeResponse(
      decodedQuery(),
      { code: 0, isAuthoritative: true, answers, authority: [], additional: [] },
      1_232,
    )
    const decoded = decodeResponse(bytes)
    assert.ok(decoded !== undefined && bytes.length <= 1_232)
    assert.deepEqual(decoded.answers, answers.slice(0, decoded.answers.length))
    assert.equal(decoded.isTruncated, decoded.answers.length < answers.length)
  },
})
