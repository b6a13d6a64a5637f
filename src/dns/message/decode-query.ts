// Decodes a client's query. Nothing in it is trusted: every result is a value, and the work is linear in its length.
import { recordType } from './record.ts'
import { headerBytes, flag, opcodeOf, readUint16 } from './header.ts'
import { readName } from './name.ts'

export interface Question {
  /** In presentation format and lower case. */
  readonly name: string
  readonly type: number
  readonly class: number
}

/** What the OPT record of a query contains (RFC 6891). */
export interface Edns {
  readonly udpBytes: number
  readonly version: number
  /** The client requests DNSSEC records. */
  readonly dnssecOk: boolean
}

export type DecodedQuery =
  | {
      readonly kind: 'query'
      readonly id: number
      readonly flags: number
      readonly question: Question
      /** The question as it was sent; the response repeats it, so that the case of letters is preserved. */
      readonly questionBytes: Uint8Array
      readonly edns: Edns | undefined
    }
  /** A response is due, but only with an error. */
  | { readonly kind: 'malformed' | 'unsupported-opcode'; readonly id: number; readonly flags: number }
  /** No response: a message that is itself a response, or too short to have an id. */
  | { readonly kind: 'ignored' }

export function decodeQuery(bytes: Uint8Array): DecodedQuery {
  if (bytes.length < headerBytes) return { kind: 'ignored' }
  const id = readUint16(bytes, 0)
  const flags = readUint16(bytes, 2)
  if ((flags & flag.isResponse) !== 0) return { kind: 'ignored' }
  if (opcodeOf(flags) !== 0) return { kind: 'unsupported-opcode', id, flags }
  const malformed = { kind: 'malformed', id, flags } as const
  const questions = readUint16(bytes, 4)
  const answers = readUint16(bytes, 6)
  const authority = readUint16(bytes, 8)
  if (questions !== 1 || answers !== 0) return malformed
  const read = readName(bytes, headerBytes, false)
  if (read === undefined || read.next + 4 > bytes.length) return malformed
  const type = readUint16(bytes, read.next)
  const question = { name: read.name, type, class: readUint16(bytes, read.next + 2) }
  // An IXFR has the client's SOA record in the authority section.
  if (authority > (type === recordType.IXFR ? 1 : 0)) return malformed
  const end = read.next + 4
  const rest = readAdditional(bytes, end, authority + readUint16(bytes, 10))
  if (rest === undefined) return malformed
  return { kind: 'query', id, flags, question, questionBytes: bytes.subarray(headerBytes, end), edns: rest.edns }
}

/** The OPT record of the remaining records; undefined if they are malformed or do not end with the message. */
function readAdditional(bytes: Uint8Array, start: number, count: number): { edns: Edns | undefined } | undefined {
  let at = start
  let edns: Edns | undefined = undefined
  for (let index = 0; index < count; index++) {
    const owner = readName(bytes, at)
    if (owner === undefined || owner.next + 10 > bytes.length) return undefined
    const { name, next } = owner
    if (readUint16(bytes, next) === recordType.OPT) {
      if (edns !== undefined || name !== '') return undefined
      edns = ednsOf(bytes, next)
    }
    at = next + 10 + readUint16(bytes, next + 8)
  }
  return at === bytes.length ? { edns } : undefined
}

const dnssecOkMark = 0x80

/** `at` is the position of the record's type. */
export const ednsOf = (bytes: Uint8Array, at: number): Edns => ({
  udpBytes: readUint16(bytes, at + 2),
  version: bytes[at + 5] as number,
  dnssecOk: ((bytes[at + 6] as number) & dnssecOkMark) !== 0,
})
