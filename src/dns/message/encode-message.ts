// Encodes responses to clients and queries to upstream servers.
import type { DecodedQuery, Edns, Question } from './decode-query.ts'
import {
  classInternet,
  flag,
  headerBytes,
  messageBytesMax,
  responseCode,
  udpBytesMax,
  udpBytesPlain,
} from './header.ts'
import { MessageWriter } from './message-writer.ts'
import type { ResourceRecord } from './record.ts'

export interface ResponseContent {
  readonly code: number
  /** The zone of this server contains the name. */
  readonly isAuthoritative: boolean
  readonly answers: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
}

type Query = Extract<DecodedQuery, { kind: 'query' }>

/** Bytes of an OPT record without options. */
export const ednsBytes = 11
/** Shared, because encoding is synchronous and the message is copied at the end. */
const buffer = new Uint8Array(messageBytesMax + 1024)

/** The largest UDP response that the client accepts and that networks deliver. */
export const udpBytesOf = (edns: Edns | undefined): number =>
  edns === undefined ? udpBytesPlain : Math.min(Math.max(edns.udpBytes, udpBytesPlain), udpBytesMax)

/** Answers that do not fit are left out and the response is marked as truncated. */
export function encodeResponse(query: Query, content: ResponseContent, bytesMax: number): Uint8Array {
  const { id, flags, question, questionBytes, edns } = query
  const { code, answers, authority, additional } = content
  const writer = new MessageWriter(buffer, bytesMax)
  writer.question(questionBytes, question.name)
  const reserved = edns === undefined ? 0 : ednsBytes
  const write = (records: readonly ResourceRecord[]): number => {
    let count = 0
    while (count < records.length && writer.record(records[count] as ResourceRecord, reserved)) count++
    return count
  }
  const counts = [1, write(answers), write(authority), write(additional)]
  const isTruncated = counts[1] !== answers.length || counts[2] !== authority.length
  if (edns !== undefined) {
    counts[3] = (counts[3] ?? 0) + 1
    writer.edns(udpBytesMax, code >> 4, edns.dnssecOk)
  }
  writer.uint16(id, 0)
  writer.uint16(
    responseFlags(flags, code) |
      (content.isAuthoritative ? flag.authoritative : 0) |
      (isTruncated ? flag.truncated : 0),
    2,
  )
  for (const [index, count] of counts.entries()) writer.uint16(count, 4 + index * 2)
  return writer.finish()
}

/** A response without any section, to a query that could not be read. */
export function encodeError(id: number, flags: number, code: number): Uint8Array {
  const writer = new MessageWriter(buffer, headerBytes)
  writer.uint16(id, 0)
  writer.uint16(responseFlags(flags, code), 2)
  for (let at = 4; at < headerBytes; at += 2) writer.uint16(0, at)
  return writer.finish()
}

const opcodeMask = 0x7800

const responseFlags = (flags: number, code: number): number =>
  flag.isResponse |
  flag.recursionAvailable |
  (flags & (opcodeMask | flag.recursionDesired | flag.checkingDisabled)) |
  (code & 0xf)

export interface UpstreamQuery {
  readonly id: number
  readonly question: Pick<Question, 'name' | 'type'>
  readonly dnssecOk: boolean
  readonly checkingDisabled: boolean
}

/** A recursive query with EDNS. */
export function encodeQuery({ id, question, dnssecOk, checkingDisabled }: UpstreamQuery): Uint8Array {
  const writer = new MessageWriter(buffer, messageBytesMax)
  writer.uint16(id, 0)
  writer.uint16(flag.recursionDesired | (checkingDisabled ? flag.checkingDisabled : 0), 2)
  for (const [index, count] of [1, 0, 0, 1].entries()) writer.uint16(count, 4 + index * 2)
  writer.plainQuestion(question.name, question.type, classInternet)
  writer.edns(udpBytesMax, responseCode.noError, dnssecOk)
  return writer.finish()
}
