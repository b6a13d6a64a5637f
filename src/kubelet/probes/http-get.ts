// httpGet: one GET request to a pod. The body of a response is read only if it redirects, because events quote it.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { latin1Text } from '../../platform/http1/latin1.ts'
import type { OutboundRequest, SendOn } from '../../platform/http/outbound.ts'
import { authorityOf, type PodDialer } from '../../machine/dialer/pod-dialer.ts'
import type { HttpTarget } from './http-target.ts'

export interface HttpGetDeps {
  readonly dialer: PodDialer
  readonly sendOn: SendOn
}

export interface ProbeResponse {
  readonly status: number
  readonly location: string | undefined
  /** Empty unless the response redirects. */
  readonly body: string
}

/** As upstream. */
const bodyBytesMax = 10 * 1024

/** Rejects with Unreachable when the connection fails, and with an Error when a header or the response is invalid. */
export async function httpGet(
  target: HttpTarget,
  { dialer, sendOn }: HttpGetDeps,
  signal: AbortSignal,
): Promise<ProbeResponse> {
  const request = { method: 'GET', target: target.path, headers: requestHeaders(target) }
  const stream = await dialer.connect(target, target.scheme === 'https', signal)
  try {
    const { status, headers, body } = await sendOn(stream, request, signal)
    const isRedirect = status >= 300 && status < 400
    return { status, location: headers['location'], body: isRedirect ? await firstBytes(body) : '' }
  } finally {
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
  'Expect',
  'Host',
  'Keep-Alive',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
])

function requestHeaders(target: HttpTarget): OutboundRequest['headers'] {
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
  return headers
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

async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece.subarray(0, bodyBytesMax - bytes))
    bytes += piece.length
    if (bytes >= bodyBytesMax) break
  }
  return new TextDecoder().decode(concatBytes(pieces))
}
