// MessageWriter: the bytes of a message, with compressed names. It never writes beyond its limit: a record that does not
// fit is not written, not even in part, and no record is written after it.
import { ipBytes } from '../../base/net/ip-bytes.ts'
import { classInternet, headerBytes } from './header.ts'
import { labelBytesMax, labelEnd, nameBytesMax, pointerOffsetMax, writeLabel } from './name.ts'
import { pooledCopy } from './pooled-copy.ts'
import { recordType, type RecordData, type ResourceRecord } from './record.ts'

/** The largest record that is written before its size is known: two names and the numbers of an SOA. */
const marginBytes = 600
/** A name of 255 bytes whose bytes are all escaped. */
const nameCharactersMax = 4 * nameBytesMax

export class MessageWriter {
  readonly #bytes: Uint8Array
  readonly #bytesMax: number
  /** The name of the question, to which most pointers lead. */
  #questionName = ''
  /** Positions of other names and of their ends. */
  #names: Map<string, number> | undefined
  #at = headerBytes
  /** A record did not fit. Names of it may be in the map, so nothing may refer to it. */
  #isFull = false

  /** The buffer may be reused once the message was copied. */
  constructor(buffer: Uint8Array, bytesMax: number) {
    this.#bytes = buffer
    this.#bytesMax = Math.min(bytesMax, buffer.length - marginBytes)
  }

  uint16(value: number, at: number): void {
    this.#bytes[at] = value >>> 8
    this.#bytes[at + 1] = value
  }

  /** Bytes of a question, whose name later names refer to. */
  question(bytes: Uint8Array, name: string): void {
    this.#bytes.set(bytes, this.#at)
    this.#questionName = name
    this.#at += bytes.length
  }

  /** Whether the record was written, leaving room for `reservedBytes` after it. */
  record(record: ResourceRecord, reservedBytes: number): boolean {
    const start = this.#at
    const limit = this.#bytesMax - reservedBytes
    if (this.#isFull || start >= limit || !this.#fits(record.data, limit)) return false
    this.#name(record.name)
    this.#uint16(record.type)
    this.#uint16(classInternet)
    this.#uint32(record.ttlSeconds)
    const lengthAt = this.#at
    this.#at += 2
    this.#data(record.data)
    this.uint16(this.#at - lengthAt - 2, lengthAt)
    if (this.#at <= limit && !this.#isFull) return true
    this.#isFull = true
    this.#at = start
    return false
  }

  /** The OPT record of a response or query; `code` has the upper bits of the response code. */
  edns(udpBytes: number, code: number, dnssecOk: boolean): void {
    this.#bytes[this.#at++] = 0
    this.#uint16(recordType.OPT)
    this.#uint16(udpBytes)
    this.#bytes[this.#at++] = code
    this.#bytes[this.#at++] = 0
    this.#uint16(dnssecOk ? 0x8000 : 0)
    this.#uint16(0)
  }

  plainQuestion(name: string, type: number, recordClass: number): void {
    this.#name(name)
    this.#uint16(type)
    this.#uint16(recordClass)
  }

  /** A copy of the message. */
  finish(): Uint8Array {
    return pooledCopy(this.#bytes.subarray(0, this.#at))
  }

  /** Whether data of unlimited length fit; other data are limited by the margin. */
  #fits(data: RecordData, limit: number): boolean {
    switch (data.kind) {
      case 'opaque':
        return this.#at + data.bytes.length <= limit
      case 'texts':
        return this.#at + data.texts.reduce((sum, text) => sum + text.length + 1, 0) <= limit
      default:
        return true
    }
  }

  #uint16(value: number): void {
    this.uint16(value, this.#at)
    this.#at += 2
  }

  #uint32(value: number): void {
    this.#uint16(value >>> 16)
    this.#uint16(value & 0xffff)
  }

  #name(name: string, isCompressed = true): void {
    // The caller passes valid names; an invalid one must not damage the message.
    if (isTooLong(name)) this.#isFull = true
    if (this.#isFull) return
    let start = 0
    while (start < name.length) {
      const rest = start === 0 ? name : name.slice(start)
      const known = isCompressed ? this.#positionOf(rest) : undefined
      if (known !== undefined) return this.#uint16(0xc000 | known)
      if (this.#at <= pointerOffsetMax) (this.#names ??= new Map()).set(rest, this.#at)
      const end = labelEnd(name, start)
      const next = writeLabel(this.#bytes, this.#at + 1, name, start, end)
      const length = next - this.#at - 1
      // An empty label would end the name here.
      if (length === 0 || length > labelBytesMax) this.#isFull = true
      this.#bytes[this.#at] = length
      this.#at = next
      start = end + 1
    }
    this.#bytes[this.#at++] = 0
  }

  #positionOf(name: string): number | undefined {
    const asked = this.#questionName
    if (name === asked) return headerBytes
    // In a name without escapes, a character is a byte, and a dot is the length of the next label.
    if (asked.endsWith(name) && asked.at(-name.length - 1) === '.' && !asked.includes('\\'))
      return headerBytes + asked.length - name.length
    return this.#names?.get(name)
  }

  #data(data: RecordData): void {
    switch (data.kind) {
      case 'address':
        return this.#raw(ipBytes(data.address) ?? noBytes)
      case 'name':
        return this.#name(data.target)
      case 'mail':
        this.#uint16(data.preference)
        return this.#name(data.target)
      case 'location':
        for (const value of [data.priority, data.weight, data.port]) this.#uint16(value)
        // RFC 2782 forbids compression of the target.
        return this.#name(data.target, false)
      case 'authority':
        this.#name(data.primary)
        this.#name(data.mailbox)
        for (const value of [data.serial, data.refreshSeconds, data.retrySeconds, data.expireSeconds])
          this.#uint32(value)
        return this.#uint32(data.minimumSeconds)
      case 'texts':
        for (const text of data.texts) {
          this.#bytes[this.#at++] = text.length
          this.#at = writeText(this.#bytes, this.#at, text)
        }
        return undefined
      case 'opaque':
        return this.#raw(data.bytes)
      default:
        return data satisfies never
    }
  }

  #raw(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }
}

const noBytes = new Uint8Array(0)

/** Without escapes, a name has as many bytes as characters, one more for its first length and one for the root. */
const isTooLong = (name: string): boolean =>
  name.length + 2 > nameBytesMax &&
  (name.length > nameCharactersMax || name.replaceAll(/\\(?:\d{3}|.)/g, ' ').length + 2 > nameBytesMax)

function writeText(target: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) target[at + index] = text.charCodeAt(index)
  return at + text.length
}
