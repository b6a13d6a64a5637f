// Decodes the response of an upstream server, which is as untrusted as a client's query.
import type { Question } from './decode-query.ts'
import { classInternet, flag, headerBytes, opcodeOf, readUint16, readUint32, responseCodeOf } from './header.ts'
import { ipText } from '../../base/net/ip-bytes.ts'
import { readName } from './name.ts'
import { recordType, type RecordData, type ResourceRecord } from './record.ts'

export interface DecodedResponse {
  readonly id: number
  readonly isTruncated: boolean
  /** Includes the upper bits of an OPT record. */
  readonly responseCode: number
  readonly question: Question
  readonly answers: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  /** Without the OPT record. */
  readonly additional: readonly ResourceRecord[]
}

/** Undefined if it is malformed, not a response, or not about exactly one question. */
export function decodeResponse(bytes: Uint8Array): DecodedResponse | undefined {
  if (bytes.length < headerBytes) return undefined
  const flags = readUint16(bytes, 2)
  if ((flags & flag.isResponse) === 0 || opcodeOf(flags) !== 0 || readUint16(bytes, 4) !== 1) return undefined
  const asked = readName(bytes, headerBytes, false)
  if (asked === undefined || asked.next + 4 > bytes.length) return undefined
  const reader = new RecordReader(bytes, asked.next + 4)
  const answers = reader.section(readUint16(bytes, 6))
  const authority = reader.section(readUint16(bytes, 8))
  const additional = reader.section(readUint16(bytes, 10))
  if (reader.isMalformed) return undefined
  return {
    id: readUint16(bytes, 0),
    isTruncated: (flags & flag.truncated) !== 0,
    responseCode: responseCodeOf(flags) | (reader.responseCodeUpper << 4),
    question: {
      name: asked.name,
      type: readUint16(bytes, asked.next),
      class: readUint16(bytes, asked.next + 2),
    },
    answers,
    authority,
    additional,
  }
}

const ttlSecondsMax = 0x7fff_ffff

class RecordReader {
  readonly #bytes: Uint8Array
  #at: number
  isMalformed = false
  responseCodeUpper = 0

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  section(count: number): ResourceRecord[] {
    const records: ResourceRecord[] = []
    for (let index = 0; index < count && !this.isMalformed; index++) {
      const record = this.#record()
      if (record !== undefined) records.push(record)
    }
    return records
  }

  /** Undefined for an OPT record, and for a malformed one, which ends the reading. */
  #record(): ResourceRecord | undefined {
    const bytes = this.#bytes
    const owner = readName(bytes, this.#at)
    if (owner === undefined || owner.next + 10 > bytes.length) return this.#fail()
    const { name, next } = owner
    const type = readUint16(bytes, next)
    const start = next + 10
    const ttl = readUint32(bytes, next + 4)
    const end = start + readUint16(bytes, next + 8)
    if (end > bytes.length) return this.#fail()
    this.#at = end
    if (type === recordType.OPT) {
      this.responseCodeUpper = bytes[next + 4] as number
      return undefined
    }
    if (readUint16(bytes, next + 2) !== classInternet) return this.#fail()
    const data = readData(bytes, type, start, end)
    if (data === undefined) return this.#fail()
    return { name, type, ttlSeconds: ttl > ttlSecondsMax ? 0 : ttl, data }
  }

  #fail(): undefined {
    this.isMalformed = true
  }
}

function readData(bytes: Uint8Array, type: number, start: number, end: number): RecordData | undefined {
  const length = end - start
  /** A name that fills the data from the position on. */
  const lastName = (at: number) => {
    const read = readName(bytes, at)
    return read?.next === end ? read.name : undefined
  }
  switch (type) {
    case recordType.A:
    case recordType.AAAA:
      if (length !== (type === recordType.A ? 4 : 16)) return undefined
      return { kind: 'address', address: ipText(bytes.subarray(start, end)) }
    case recordType.CNAME:
    case recordType.NS:
    case recordType.PTR: {
      const target = lastName(start)
      return target === undefined ? undefined : { kind: 'name', target }
    }
    case recordType.MX: {
      const target = length < 3 ? undefined : lastName(start + 2)
      return target === undefined ? undefined : { kind: 'mail', preference: readUint16(bytes, start), target }
    }
    case recordType.SRV: {
      const target = length < 7 ? undefined : lastName(start + 6)
      if (target === undefined) return undefined
      const [priority, weight, port] = [0, 2, 4].map((offset) => readUint16(bytes, start + offset))
      return { kind: 'location', priority: priority ?? 0, weight: weight ?? 0, port: port ?? 0, target }
    }
    case recordType.SOA:
      return readAuthority(bytes, start, end)
    default:
      // A copy, because the message is larger and is not kept.
      return { kind: 'opaque', bytes: bytes.slice(start, end) }
  }
}

function readAuthority(bytes: Uint8Array, start: number, end: number): RecordData | undefined {
  const primary = readName(bytes, start)
  const mailbox = primary && readName(bytes, primary.next)
  if (primary === undefined || mailbox === undefined || mailbox.next + 20 !== end) return undefined
  const at = (index: number) => readUint32(bytes, mailbox.next + index * 4)
  return {
    kind: 'authority',
    primary: primary.name,
    mailbox: mailbox.name,
    serial: at(0),
    refreshSeconds: at(1),
    retrySeconds: at(2),
    expireSeconds: at(3),
    minimumSeconds: at(4),
  }
}
