// httpGet: one GET request to a pod. The body of a response is read only if it redirects, because events quote it.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { ChunkedDecoder } from '../../platform/http1/chunked-decoder.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { latin1Bytes, latin1Text } from '../../platform/http1/latin1.ts'
import { requestText } from '../../platform/http1/request-text.ts'
import { authorityOf, type PodDialer } from '../../machine/dialer/pod-dialer.ts'
import type { HttpTarget } from './http-target.ts'

export interface ProbeResponse {
  readonly status: number
  readonly location: string | undefined
  /** Empty unless the response redirects. */
  readonly body: string
}

const headBytesMax = 64 * 1024
/** As upstream. */
const bodyBytesMax = 10 * 1024

/** Rejects with Unreachable when the connection fails, and with an Error when a header or the response is invalid. */
export async function httpGet(target: HttpTarget, dialer: PodDialer, signal: AbortSignal): Promise<ProbeResponse> {
  const request = requestBytes(target)
  const stream = await dialer.connect(target, target.scheme === 'https', signal)
  const end = () => stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  try {
    await stream.write(request)
    return await readResponse(stream)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

const headerName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const controlCharacter = /[^\t\x20-\x7e\x80-\u{10ffff}]/u
/** A Host header with other characters is sent empty, as Go does. */
const hostHeader = /^[-\w.:[\]%~!$&'()*+,;=]*$/
/** Headers of the connection and of a body, which a probe does not have. */
const ownHeaders: ReadonlySet<string> = new Set([
  'Connection',
  'Content-Length',
  'Host',
  'Trailer',
  'Transfer-Encoding',
])

function requestBytes(target: HttpTarget): Uint8Array {
  const given = givenHeaders(target)
  const first = (name: string) => lookup(given, name)?.[0]
  const host = first('Host') || authorityOf(target)
  const headers: Record<string, string | readonly string[]> = { Host: hostHeader.test(host) ? host : '' }
  // A header with an empty value removes a default.
  const agent = first('User-Agent') ?? 'kube-probe/1.36'
  const accept = first('Accept') ?? '*/*'
  if (agent !== '') headers['User-Agent'] = agent
  if (accept !== '') headers['Accept'] = accept
  for (const [name, values] of Object.entries(given))
    if (!ownHeaders.has(name) && name !== 'User-Agent' && name !== 'Accept') setOwn(headers, name, values)
  headers['Connection'] = 'close'
  return latin1Bytes(requestText({ method: 'GET', target: target.path, headers, body: undefined }))
}

/** By name, as Go writes it. Throws, with Go's messages, when a name or a value is invalid. */
function givenHeaders({ headers }: HttpTarget): Record<string, string[]> {
  const given: Record<string, string[]> = {}
  for (const { name, value } of headers) {
    const quoted = JSON.stringify(name)
    if (!headerName.test(name)) throw new Error(`net/http: invalid header field name ${quoted}`)
    if (controlCharacter.test(value)) throw new Error(`net/http: invalid header field value for ${quoted}`)
    const canonical = name.toLowerCase().replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
    const bytes = new TextEncoder().encode(value.trim())
    setOwn(given, canonical, [...(lookup(given, canonical) ?? []), latin1Text(bytes, 0, bytes.length)])
  }
  return given
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
