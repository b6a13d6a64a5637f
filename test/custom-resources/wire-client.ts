// WireClient: requests over HTTPS as a client sends them, to upstream or to ours.
import { nodePlatform } from '../../src/platform/node/platform.ts'
import type { OutboundOptions } from '../../src/platform/http/outbound.ts'
import type { Response } from './scenario.ts'

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** For a watch: how many events are read before it is closed. */
  readonly events: number | undefined
}

export interface WireClient extends AsyncDisposable {
  send(request: WireRequest): Promise<Response>
}

/** The name of the client is the default of field managers. */
const userAgent = 'client/1'

export function wireClient({ origin, tls }: Pick<OutboundOptions, 'origin' | 'tls'>): WireClient {
  const outbound = nodePlatform.outbound.connect({ origin, tls })
  return {
    async send({ method, path, headers, body, events }) {
      const closing = new AbortController()
      const request = { method, target: path, headers: { 'user-agent': userAgent, ...headers } }
      const answer = await outbound.send(body === undefined ? request : { ...request, body }, closing.signal)
      const { status, headers: received } = answer
      if (events !== undefined && status === 200) {
        const watched = await firstEvents(answer.body, events)
        closing.abort()
        return { status, headers: received, body: watched }
      }
      const bytes = Buffer.concat(await Array.fromAsync(answer.body))
      return { status, headers: received, body: decoded(received['content-type'] ?? '', bytes) }
    },
    [Symbol.asyncDispose]: () => outbound.close(),
  }
}

function decoded(contentType: string, bytes: Buffer): unknown {
  // The index of OpenAPI v3 is JSON as well, although upstream calls it plain text.
  const isJson = contentType.startsWith('application/json') || contentType.startsWith('text/plain')
  if (isJson && bytes[0] === openingBrace) return parseExact(bytes.toString())
  return bytes.toString(/protobuf|cbor/.test(contentType) ? 'base64' : 'utf8')
}

/** Missing in TypeScript's library: the text of a number. */
type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown
const { parse: parseJson } = JSON as unknown as { parse(text: string, reviver: Reviver): unknown }

/** An integer that a double does not represent is a text, because the tables are JSON. */
const parseExact = (text: string): unknown =>
  parseJson(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? `<integer ${source}>` : value,
  )

const newline = 10
const openingBrace = 123

/** Fewer if the watch ends before. */
async function firstEvents(body: AsyncIterable<Uint8Array>, count: number): Promise<unknown[]> {
  const pieces: Uint8Array[] = []
  let lines = 0
  for await (const piece of body) {
    pieces.push(piece)
    lines += piece.filter((byte) => byte === newline).length
    if (lines >= count) break
  }
  return Buffer.concat(pieces).toString().split('\n').slice(0, Math.min(lines, count)).map(parseExact)
}
