// An upstream server in memory whose responses a test scripts, and sockets that reach it.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'
import { decodeQuery, type DecodedQuery } from '../message/decode-query.ts'
import { encodeResponse, type ResponseContent } from '../message/encode-message.ts'
import { messageBytesMax } from '../message/header.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'
import { framed, FrameReader } from '../message/stream-frames.ts'

type Query = Extract<DecodedQuery, { kind: 'query' }>

export interface UpstreamCall {
  readonly server: string
  readonly transport: 'udp' | 'tcp'
  readonly query: Query
}

/** Messages, one after the other; none is silence. */
export type UpstreamScript = (call: UpstreamCall) => readonly Uint8Array[] | 'unreachable'

export class ScriptedUpstream implements Pick<Sockets, 'connectDatagrams' | 'connectStream'> {
  readonly calls: UpstreamCall[] = []
  openSockets = 0
  readonly #script: UpstreamScript

  constructor(script: UpstreamScript) {
    this.#script = script
  }

  /** `server transport name` of each query. */
  get log(): string[] {
    return this.calls.map(({ server, transport, query }) => `${server} ${transport} ${query.question.name}`)
  }

  #respond(server: string, transport: 'udp' | 'tcp', bytes: Uint8Array): ReturnType<UpstreamScript> {
    const query = decodeQuery(bytes)
    if (query.kind !== 'query') throw new Error('the forwarder sent a message that is not a query')
    const call = { server, transport, query }
    this.calls.push(call)
    return this.#script(call)
  }

  connectDatagrams: Sockets['connectDatagrams'] = async ({ address }: Peer, { onDatagram, onUnreachable }) => {
    this.openSockets++
    return {
      send: (bytes) =>
        queueMicrotask(() => {
          const responses = this.#respond(address, 'udp', bytes)
          if (responses === 'unreachable') onUnreachable()
          else for (const response of responses) onDatagram(response)
        }),
      close: () => void this.openSockets--,
    }
  }

  connectStream: Sockets['connectStream'] = async ({ address }: Peer) => {
    this.openSockets++
    const { promise, resolve } = Promise.withResolvers<readonly Uint8Array[]>()
    const reader = new FrameReader(messageBytesMax)
    const stream: ByteStream = {
      pieces: (async function* () {
        yield* await promise
      })(),
      write: async (piece) => {
        for (const message of reader.push(piece) ?? []) {
          const responses = this.#respond(address, 'tcp', message)
          resolve(responses === 'unreachable' ? [] : responses.map(framed))
        }
      },
      end() {},
      destroy: () => {
        this.openSockets--
        resolve([])
      },
    }
    return stream
  }
}

/** A response to the query. */
export const responseTo = (query: Query, content: Partial<ResponseContent> = {}, bytesMax = 1_232): Uint8Array =>
  encodeResponse(
    query,
    { code: 0, isAuthoritative: false, answers: [], authority: [], additional: [], ...content },
    bytesMax,
  )

export const addressAnswer = (name: string, address = '192.0.2.1', ttlSeconds = 60): ResourceRecord => ({
  name,
  type: recordType.A,
  ttlSeconds,
  data: { kind: 'address', address },
})

export const authorityOf = (name: string, ttlSeconds: number, minimumSeconds: number): ResourceRecord => ({
  name,
  type: recordType.SOA,
  ttlSeconds,
  data: {
    kind: 'authority',
    primary: `ns.${name}`,
    mailbox: `admin.${name}`,
    serial: 1,
    minimumSeconds,
    refreshSeconds: 1,
    retrySeconds: 1,
    expireSeconds: 1,
  },
})

/** Responds to every question with one address. */
export const answersAll: UpstreamScript = ({ query }) => [
  responseTo(query, { answers: [addressAnswer(query.question.name)] }),
]
