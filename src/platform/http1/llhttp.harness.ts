// Parses the same bytes as HTTP/1.1 requests with our connection and with llhttp, the parser of Node.js.
import { createRequire } from 'node:module'
import type { WireRequest } from '../http/listener.ts'
import { connect } from './http1-connection.harness.ts'

/** A request as a parser sees it. */
export interface SeenRequest {
  readonly method: string
  readonly target: string
  /** Names in lower case and values, alternating. */
  readonly lines: readonly string[]
  /** Undefined while the body is not complete. */
  body: string | undefined
}

export interface Reading {
  readonly requests: readonly SeenRequest[]
  /** The bytes after the last request were rejected. */
  readonly isRejected: boolean
}

const bodyBytesMax = 1 << 20
/** More promise jobs than a request takes from its body to its response. */
const jobsPerRequest = 10

/** What our connection accepts. Each request gets its response when its body is complete. */
export async function readWithOurs(pieces: readonly string[]): Promise<Reading> {
  const requests: SeenRequest[] = []
  let completed = 0
  const { connection, peer } = connect(async (request) => {
    const seen: SeenRequest = {
      method: request.method,
      target: request.target,
      lines: (request as unknown as WireRequest & { head: { lines: string[] } }).head.lines,
      body: undefined,
    }
    requests.push(seen)
    const body = await request.body(bodyBytesMax)
    seen.body = Buffer.from(body).toString('latin1')
    completed++
    return { status: 200, headers: {}, body: '' }
  })
  for (const piece of pieces) {
    connection.receive(Buffer.from(piece, 'latin1'))
    for (let before = -1; before < completed;) {
      before = completed
      for (let jobs = 0; jobs < jobsPerRequest; jobs++) await Promise.resolve()
    }
  }
  return { requests, isRejected: /^HTTP\/1\.1 [45]/m.test(peer.written()) }
}

interface Parser {
  initialize(type: number, resource: object): void
  execute(bytes: Uint8Array): number | Error
  [callback: number]: unknown
}

interface HttpCommon {
  readonly HTTPParser: (new () => Parser) &
    Readonly<Record<'REQUEST' | 'kOnHeaders' | 'kOnHeadersComplete' | 'kOnBody' | 'kOnMessageComplete', number>>
  readonly methods: readonly string[]
}

const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common') as HttpCommon

/** llhttp reports a method as a number. */
const methodsByNumber = new Map(methods.map((method) => [numberOf(method), method]))

export const isKnownToLlhttp = (method: string): boolean => methods.includes(method)

function numberOf(method: string): number {
  const parser = new HTTPParser()
  let found = -1
  parser.initialize(HTTPParser.REQUEST, {})
  parser[HTTPParser.kOnHeadersComplete] = (_major: number, _minor: number, _headers: unknown, number: number) => {
    found = number
    return 0
  }
  parser.execute(Buffer.from(`${method} ${method === 'CONNECT' ? 'x:1' : '/'} HTTP/1.1\r\nHost: x\r\n\r\n`))
  return found
}

const parser = new HTTPParser()

/** What llhttp accepts, with the strictness of a Node.js server. */
export function readWithLlhttp(bytes: string): Reading {
  const requests: SeenRequest[] = []
  let url = ''
  let lines: string[] = []
  let body = ''
  parser.initialize(HTTPParser.REQUEST, {})
  // Called with the first headers of a long head, and with trailers.
  parser[HTTPParser.kOnHeaders] = (headers: string[], part: string) => {
    if (requests.at(-1)?.body === undefined && requests.length > 0) return
    lines.push(...headers)
    url += part
  }
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    headers: string[] | undefined,
    method: number,
    target: string | undefined,
  ) => {
    if (headers !== undefined) lines.push(...headers)
    requests.push({
      method: methodsByNumber.get(method) ?? '',
      target: url + (target ?? ''),
      lines: lines.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text)),
      body: undefined,
    })
    ;[url, lines, body] = ['', [], '']
    return 0
  }
  parser[HTTPParser.kOnBody] = (piece: Buffer) => {
    body += piece.toString('latin1')
  }
  parser[HTTPParser.kOnMessageComplete] = () => {
    const last = requests.at(-1)
    if (last !== undefined) last.body = body
  }
  const result = parser.execute(Buffer.from(bytes, 'latin1'))
  return { requests, isRejected: result instanceof Error }
}
