// httpGet: one GET request to a pod. The body of a response is read only if it redirects, because events quote it.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { ChunkedDecoder } from '../../platform/http1/chunked-decoder.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { authorityOf, type PodDialer } from '../../machine/dialer/pod-dialer.ts'

export interface HttpTarget {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  /** Including the query. */
  readonly path: string
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

export interface ProbeResponse {
  readonly status: number
  readonly location: string | undefined
  /** Empty unless the response redirects. */
  readonly body: string
}

const headBytesMax = 64 * 1024
/** As upstream. */
const bodyBytesMax = 10 * 1024

export const urlOf = (target: HttpTarget): string => `${target.scheme}://${authorityOf(target)}${target.path}`

/** Rejects with Unreachable when the connection fails, and with an Error when the response is invalid. */
export async function httpGet(target: HttpTarget, dialer: PodDialer, signal: AbortSignal): Promise<ProbeResponse> {
  const stream = await dialer.connect(target, target.scheme === 'https', signal)
  const end = () => stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  try {
    await stream.write(new TextEncoder().encode(requestText(target)))
    return await readResponse(stream)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

/** Default headers; a header with an empty value in the probe removes one. */
const defaultHeaders: readonly [name: string, value: string][] = [
  ['User-Agent', 'kube-probe/1.36'],
  ['Accept', '*/*'],
]

function requestText(target: HttpTarget): string {
  const headersNamed = (name: string) =>
    target.headers.filter((header) => header.name.toLowerCase() === name.toLowerCase())
  const lines = [
    `GET ${target.path} HTTP/1.1`,
    `Host: ${headersNamed('Host').at(-1)?.value ?? authorityOf(target)}`,
    ...defaultHeaders.filter(([name]) => headersNamed(name).length === 0).map(([name, value]) => `${name}: ${value}`),
    ...target.headers
      .filter(({ name, value }) => name.toLowerCase() !== 'host' && value !== '')
      .map(({ name, value }) => `${name}: ${value}`),
    'Connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

async function readResponse(stream: ByteStream): Promise<ProbeResponse> {
  const pieces = stream.pieces[Symbol.asyncIterator]()
  let text = ''
  let end = -1
  // Latin1, so that each character is a byte.
  const decoder = new TextDecoder('latin1')
  while (end === -1 && text.length <= headBytesMax) {
    const { done, value } = await pieces.next()
    if (done === true) break
    text += decoder.decode(value, { stream: true })
    end = text.indexOf('\r\n\r\n')
  }
  if (text === '') throw new Error('EOF')
  const head = parseHead(end === -1 ? text : text.slice(0, end))
  if (end === -1 || head.status < 300 || head.status >= 400) return { ...head, body: '' }
  const first = Uint8Array.from(text.slice(end + 4), (character) => character.charCodeAt(0))
  return { ...head, body: await readBody(first, pieces, head.headers) }
}

interface ParsedHead extends Omit<ProbeResponse, 'body'> {
  readonly headers: ReadonlyMap<string, string>
}

function parseHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/\d(?:\.\d)? (\d{3})/.exec(first)?.[1]
  if (status === undefined) throw new Error(`malformed HTTP response ${JSON.stringify(first.slice(0, 100))}`)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  return { status: Number(status), location: headers.get('location'), headers }
}

/** The first bytes of the body. The server closes the connection after it. */
async function readBody(
  first: Uint8Array,
  pieces: AsyncIterator<Uint8Array>,
  headers: ParsedHead['headers'],
): Promise<string> {
  const chunked = headers.get('transfer-encoding')?.toLowerCase() === 'chunked' ? new ChunkedDecoder() : undefined
  const bytesMax = Math.min(bodyBytesMax, Number(headers.get('content-length') ?? bodyBytesMax) || 0)
  const body: Uint8Array[] = []
  let bytes = 0
  const take = (piece: Uint8Array) => {
    body.push(piece.slice(0, bytesMax - bytes))
    bytes += piece.length
  }
  for (let piece = first; ;) {
    if (chunked === undefined) take(piece)
    else chunked.take(piece, 0, take)
    if (bytes >= bytesMax || chunked?.isDone === true) break
    const next = await pieces.next()
    if (next.done === true) break
    piece = next.value
  }
  return new TextDecoder().decode(concatBytes(body))
}
