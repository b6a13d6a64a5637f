// Http1Request: a request on an HTTP/1.1 connection, while it is handled.
import type { ClientCertificate, StreamedRequest, WireRequest } from '../http/listener.ts'
import type { RequestHead } from './request-head.ts'

export class Http1Request implements StreamedRequest {
  readonly head: RequestHead
  readonly method: string
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly upgrade: boolean
  readonly remoteAddress: string
  readonly certificate: ClientCertificate | undefined
  readonly body: WireRequest['body']
  readonly bodyBytes: number | undefined
  readonly bodyPieces: StreamedRequest['bodyPieces']
  readonly headerValues: WireRequest['headerValues']
  readonly #gone = new AbortController()

  constructor(head: RequestHead, peer: Peer, { body, bodyPieces }: Pick<StreamedRequest, 'body' | 'bodyPieces'>) {
    this.head = head
    this.method = head.method
    this.target = head.target
    this.headers = head.headers
    this.upgrade = head.upgrade
    this.remoteAddress = peer.remoteAddress
    this.certificate = peer.certificate
    this.body = body
    this.bodyBytes = head.body === 'chunked' ? undefined : head.body
    this.bodyPieces = bodyPieces
    this.headerValues = (name) => headerValuesOf(head.lines, name)
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  cancel(reason: Error): void {
    this.#gone.abort(reason)
  }
}

/** The client of a connection. */
export type Peer = Pick<WireRequest, 'remoteAddress' | 'certificate'>

/** The values of a header in a list of alternating names and values. */
export function headerValuesOf(lines: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < lines.length; index += 2) if (lines[index] === name) values.push(lines[index + 1] ?? '')
  return values
}
