// Queries as bytes, for tests.
import { decodeQuery, type DecodedQuery } from './decode-query.ts'
import { recordType } from './record.ts'

type TypeName = keyof typeof recordType

export interface QueryParts {
  readonly id?: number
  readonly flags?: number
  /** Counts of the four sections. */
  readonly counts?: readonly number[]
  readonly name?: string
  readonly type?: TypeName
  readonly class?: number
  /** Appended after the question. */
  readonly rest?: readonly number[]
}

export const uint16 = (value: number): number[] => [value >> 8, value & 0xff]

export const nameBytes = (name: string): number[] => [
  ...name
    .split('.')
    .filter((label) => label !== '')
    .flatMap((label) => [label.length, ...new TextEncoder().encode(label)]),
  0,
]

/** An OPT record. */
export const opt = (udpBytes: number, { version = 0, dnssecOk = false } = {}): number[] => [
  ...[0, ...uint16(recordType.OPT), ...uint16(udpBytes)],
  ...[0, version, dnssecOk ? 0x80 : 0, 0, 0, 0],
]

export function queryBytes(parts: QueryParts = {}): Uint8Array {
  const { id = 7, flags = 0x0100, name = 'web.default.svc.cluster.local', type = 'A', class: ofClass = 1 } = parts
  const { rest = [], counts = [1, 0, 0, rest.length > 0 ? 1 : 0] } = parts
  const question = [...nameBytes(name), ...uint16(recordType[type]), ...uint16(ofClass)]
  return Uint8Array.from([...uint16(id), ...uint16(flags), ...counts.flatMap(uint16), ...question, ...rest])
}

export function decodedQuery(parts: QueryParts = {}): Extract<DecodedQuery, { kind: 'query' }> {
  const decoded = decodeQuery(queryBytes(parts))
  if (decoded.kind !== 'query') throw new Error(`the query is ${decoded.kind}`)
  return decoded
}
