// QueryHandler: from the bytes of a query to the bytes of its response. It never throws, and responds synchronously
// unless an upstream server must be asked.
import { settleMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { clientKey } from '../../platform/limits/client-key.ts'
import type { Forwarder } from '../forwarder/forwarder.ts'
import type { Resolution } from '../forwarder/response-cache.ts'
import { decodeQuery, type DecodedQuery } from '../message/decode-query.ts'
import { ednsBytes, encodeError, encodeResponse, udpBytesOf, type ResponseContent } from '../message/encode-message.ts'
import { classInternet, flag, headerBytes, messageBytesMax, responseCode } from '../message/header.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'
import type { ClusterZone, ZoneAnswer } from '../records/cluster-zone.ts'
import type { DnsMetrics, Transport } from './dns-metrics.ts'
import { KeptResponses, responseTo, type KeptResponse } from './kept-responses.ts'
import { shuffled } from './shuffled-records.ts'

export interface QueryHandlerDeps {
  readonly zone: ClusterZone
  /** Whether the zone contains every object of the cluster. Until then it cannot deny a name. */
  readonly isReady: () => boolean
  readonly forwarder: Pick<Forwarder, 'resolve'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: DnsMetrics
}

type Query = Extract<DecodedQuery, { kind: 'query' }>

/** Types of questions that are not types of records, apart from ANY. */
const isMetaType = (type: number): boolean => type === recordType.OPT || (type >= 128 && type < recordType.ANY)
const isTransfer = (type: number): boolean => type === recordType.AXFR || type === recordType.IXFR

const nothing = { answers: [], authority: [], additional: [] } as const
const failure = (code: number): ResponseContent => ({ code, isAuthoritative: false, ...nothing })

export class QueryHandler {
  readonly #deps: QueryHandlerDeps
  readonly #kept = new KeptResponses()

  constructor(deps: QueryHandlerDeps) {
    this.#deps = deps
  }

  /** Undefined if the message gets no response. */
  respond(bytes: Uint8Array, transport: Transport, address: string): MaybePromise<Uint8Array | undefined> {
    const { clock, metrics, isReady } = this.#deps
    const startMs = clock.monotonicMs()
    const kept = transport === 'udp' && isReady() ? this.#kept.find(bytes) : undefined
    if (kept !== undefined) return this.#keptResponse(bytes, kept, address, startMs)
    const query = decodeQuery(bytes)
    if (query.kind === 'ignored') return undefined
    const isInZone = query.kind === 'query' && this.#deps.zone.contains(query.question.name)
    const finish = (content: ResponseContent): Uint8Array => {
      const response =
        query.kind === 'query'
          ? encodeResponse(query, content, transport === 'udp' ? udpBytesOf(query.edns) : messageBytesMax)
          : encodeError(query.id, query.flags, content.code)
      if (transport === 'udp' && query.kind === 'query') this.#keep(bytes, query, content, response)
      metrics.served({
        transport,
        isIpV6: address.includes(':'),
        isInZone,
        code: content.code,
        type: query.kind === 'query' ? query.question.type : undefined,
        queryBytes: bytes.length,
        responseBytes: response.length,
        durationMs: clock.monotonicMs() - startMs,
      })
      return response
    }
    return settleMaybe(
      () => thenMaybe(this.#content(query, address), finish),
      (response) => response,
      (error) => {
        this.#deps.log.error('a DNS query failed', { error: errorText(error) })
        metrics.failed()
        return finish(failure(responseCode.serverFailure))
      },
    )
  }

  #keptResponse(bytes: Uint8Array, kept: KeptResponse, address: string, startMs: number): Uint8Array {
    const { clock, metrics } = this.#deps
    const response = responseTo(bytes, kept)
    metrics.served({
      transport: 'udp',
      isIpV6: address.includes(':'),
      isInZone: true,
      code: responseCode.noError,
      type: kept.type,
      queryBytes: bytes.length,
      responseBytes: response.length,
      durationMs: clock.monotonicMs() - startMs,
    })
    return response
  }

  /** Several addresses are in a different order each time, and options such as cookies differ in every query. */
  #keep(bytes: Uint8Array, { question, questionBytes }: Query, content: ResponseContent, response: Uint8Array): void {
    if (!content.isAuthoritative || content.code !== responseCode.noError) return
    if (bytes.length > headerBytes + questionBytes.length + ednsBytes) return
    const { name, type } = question
    const records = this.#deps.zone.recordsOf(name)
    const answer = records?.knownAnswer(type)
    if (records !== undefined && answer?.kind === 'records' && answer.records.length === 1)
      this.#kept.keep(bytes, response, { records, type, answer })
  }

  #content(query: Exclude<DecodedQuery, { kind: 'ignored' }>, address: string): MaybePromise<ResponseContent> {
    if (query.kind !== 'query')
      return failure(query.kind === 'malformed' ? responseCode.formatError : responseCode.notImplemented)
    const { question, edns } = query
    if (edns !== undefined && edns.version > 0) return failure(responseCode.badVersion)
    if (question.class !== classInternet || isTransfer(question.type)) return failure(responseCode.refused)
    if (isMetaType(question.type)) return failure(responseCode.notImplemented)
    return this.#answer(query, address)
  }

  #answer(query: Query, address: string): MaybePromise<ResponseContent> {
    const { zone, isReady } = this.#deps
    const { name, type } = query.question
    if (!isReady() && (zone.contains(name) || name.endsWith('.arpa'))) return failure(responseCode.serverFailure)
    const answer = zone.lookup(name, type)
    if (type === recordType.ANY) return this.#anyAnswer(name, answer)
    switch (answer.kind) {
      case 'records':
        return this.#authoritative(responseCode.noError, this.#shuffled(answer.records), answer.additional)
      case 'no-data':
        return this.#authoritative(responseCode.noError, answer.records)
      case 'no-name':
        return this.#authoritative(responseCode.nameError, answer.records)
      case 'alias-loop':
        return failure(responseCode.serverFailure)
      case 'elsewhere':
        return this.#forwarded(query, answer, address)
      default:
        return answer satisfies never
    }
  }

  /** Without answers beyond aliases, the SOA record states how long that may be cached. */
  #authoritative(
    code: number,
    answers: readonly ResourceRecord[],
    additional: readonly ResourceRecord[] = [],
  ): ResponseContent {
    const isDenial = code === responseCode.nameError || answers.every(({ type }) => type === recordType.CNAME)
    const authority = isDenial ? [this.#deps.zone.authority] : []
    return { code, isAuthoritative: true, answers, authority, additional }
  }

  /** One record in place of all (RFC 8482), because no client needs all and they would amplify attacks. */
  #anyAnswer(name: string, answer: ZoneAnswer): ResponseContent {
    if (answer.kind === 'no-name' && answer.records.length === 0) return this.#authoritative(responseCode.nameError, [])
    const data = { kind: 'texts', texts: ['RFC8482', ''] } as const
    const record = { name, type: recordType.HINFO, ttlSeconds: 3_600, data }
    const isAuthoritative = this.#deps.zone.contains(name)
    return { code: responseCode.noError, isAuthoritative, ...nothing, answers: [record] }
  }

  #forwarded(
    query: Query,
    { name, records }: Extract<ZoneAnswer, { kind: 'elsewhere' }>,
    address: string,
  ): MaybePromise<ResponseContent> {
    const question = {
      question: { name, type: query.question.type },
      dnssecOk: query.edns?.dnssecOk ?? false,
      checkingDisabled: (query.flags & flag.checkingDisabled) !== 0,
    }
    const content = (resolution: Resolution): ResponseContent => ({
      ...resolution,
      isAuthoritative: false,
      answers: [...records, ...this.#shuffled(resolution.answers)],
    })
    return thenMaybe(this.#deps.forwarder.resolve(question, clientKey(address)), content)
  }

  #shuffled(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
    return shuffled(records, this.#deps.random)
  }
}
