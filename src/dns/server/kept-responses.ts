// KeptResponses: encoded responses to queries for Services with one address, which most queries are for. An equal query
// gets the same bytes, apart from its id, until the Service changes.
import { pooledCopy } from '../message/pooled-copy.ts'
import type { ServiceRecords } from '../records/service-records.ts'
import type { ZoneAnswer } from '../records/zone-answer.ts'

/** The answer on which a response depends. It is current as long as the records have it. */
export interface AnswerSource {
  readonly records: Pick<ServiceRecords, 'knownAnswer'>
  readonly type: number
  readonly answer: ZoneAnswer
}

export interface KeptResponse extends AnswerSource {
  /** Contains the query without its id, and the response without its id after it. */
  readonly block: Uint8Array
  readonly at: number
  readonly queryEnd: number
  readonly end: number
}

const idBytes = 2
/** Small enough that the last block of a few responses wastes little. */
const blockBytes = 64 << 10
/** Everything is dropped when the bytes are used up, by many Services or by clients that vary their queries. */
const bytesMaxDefault = 4 << 20
/** Longer messages are rare. */
const messageBytesMax = 512

export class KeptResponses {
  readonly #bytesMax: number
  /** By a hash of the query. Of two queries with one hash, the later one is kept. */
  readonly #responses = new Map<number, KeptResponse>()
  #block = new Uint8Array(0)
  #used = 0
  #bytes = 0

  constructor(bytesMax = bytesMaxDefault) {
    this.#bytesMax = bytesMax
  }

  find(query: Uint8Array): KeptResponse | undefined {
    const kept = this.#responses.get(hashOf(query))
    if (kept === undefined || !isQueryOf(kept, query)) return undefined
    return kept.records.knownAnswer(kept.type) === kept.answer ? kept : undefined
  }

  keep(query: Uint8Array, response: Uint8Array, { records, type, answer }: AnswerSource): void {
    if (query.length > messageBytesMax || response.length > messageBytesMax) return
    const length = query.length + response.length - 2 * idBytes
    if (this.#used + length > this.#block.length) this.#nextBlock()
    const block = this.#block
    const at = this.#used
    const queryEnd = at + query.length - idBytes
    block.set(query.subarray(idBytes), at)
    block.set(response.subarray(idBytes), queryEnd)
    this.#used = at + length
    this.#responses.set(hashOf(query), { block, at, queryEnd, end: at + length, records, type, answer })
  }

  #nextBlock(): void {
    if (this.#bytes + blockBytes > this.#bytesMax) {
      this.#responses.clear()
      this.#bytes = 0
    }
    this.#block = new Uint8Array(blockBytes)
    this.#used = 0
    this.#bytes += blockBytes
  }
}

/** The response with the id of the query. */
export function responseTo(query: Uint8Array, { block, queryEnd, end }: KeptResponse): Uint8Array {
  const response = pooledCopy(block.subarray(queryEnd - idBytes, end))
  response[0] = query[0] as number
  response[1] = query[1] as number
  return response
}

/** FNV-1a, of everything but the id. */
function hashOf(query: Uint8Array): number {
  let hash = 0x81_1c_9d_c5 | 0
  for (let at = idBytes; at < query.length; at++) hash = Math.imul(hash ^ (query[at] as number), 0x01_00_01_93)
  return hash
}

function isQueryOf({ block, at, queryEnd }: KeptResponse, query: Uint8Array): boolean {
  if (queryEnd - at !== query.length - idBytes) return false
  for (let index = idBytes; index < query.length; index++)
    if (block[at + index - idBytes] !== query[index]) return false
  return true
}
