// Parses the head of an HTTP/1.1 request: method, target, headers and the framing of the body (RFC 9112). What two
// servers could interpret differently is rejected, to prevent request smuggling.
// safe names: the record of headers has no prototype.
import { RejectedRequest } from './rejected-request.ts'

export interface RequestHead {
  readonly method: string
  readonly target: string
  /** Names in lower case; the values of a list that was sent in several lines are joined. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Names in lower case and values, alternating, in the order in which they were sent. */
  readonly lines: readonly string[]
  readonly isHttp10: boolean
  readonly keepsAlive: boolean
  readonly body: BodyFraming
  readonly expectsContinue: boolean
  /** The client requests an upgrade to another protocol. */
  readonly upgrade: boolean
}

/** The length of the body in bytes, or chunked. */
export type BodyFraming = number | 'chunked'

export const headersMax = 1_000

/** `text` has a character for each byte, has passed `findHeadEnd`, and does not include the empty line. */
export function parseRequestHead(text: string): RequestHead {
  const lineEnd = text.indexOf('\r\n')
  const first = lineEnd < 0 ? text : text.slice(0, lineEnd)
  const { method, target, isHttp10 } = requestLine(first)
  const { headers, lines } = parseHeaders(text, lineEnd < 0 ? text.length : lineEnd + 2)
  const { host } = headers
  if (host === undefined && !isHttp10) throw new RejectedRequest(400, 'missing required Host header')
  if (host !== undefined && !hostText.test(host)) throw new RejectedRequest(400, 'malformed Host header')
  const { connection } = headers
  const options =
    connection === undefined
      ? none
      : connection
          .toLowerCase()
          .split(',')
          .map((option) => withoutBlanks(option, 0, option.length))
  return {
    method,
    target,
    headers,
    lines,
    isHttp10,
    keepsAlive: isHttp10 ? options.includes('keep-alive') : !options.includes('close'),
    body: bodyFraming(headers, isHttp10),
    expectsContinue: expectsContinue(headers['expect'], isHttp10),
    upgrade: !isHttp10 && headers['upgrade'] !== undefined && options.includes('upgrade'),
  }
}

/** The header lines from an index on, of a request or a response. */
export function parseHeaders(text: string, from: number): Pick<RequestHead, 'headers' | 'lines'> {
  const headers: Record<string, string | undefined> = Object.create(null) as Record<string, string | undefined>
  const lines: string[] = []
  for (let at = from; at < text.length;) {
    const next = text.indexOf('\r\n', at)
    const end = next < 0 ? text.length : next
    addHeader(text, at, end, headers, lines)
    at = end + 2
  }
  return { headers, lines }
}

/** The header lines from an index on: names in lower case and values, alternating. Repeated headers are kept. */
export function parseHeaderLines(text: string, from: number): string[] {
  const lines: string[] = []
  for (let at = from; at < text.length;) {
    const next = text.indexOf('\r\n', at)
    const end = next < 0 ? text.length : next
    addLine(text, at, end, lines)
    at = end + 2
  }
  return lines
}

const none: readonly string[] = []
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const hostText = /^[-\w.:[\]%~!$&'()*+,;=]*$/

const methods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

function requestLine(line: string): Pick<RequestHead, 'method' | 'target' | 'isHttp10'> {
  const methodEnd = line.indexOf(' ')
  const targetEnd = line.lastIndexOf(' ')
  const method = line.slice(0, Math.max(methodEnd, 0))
  const version = line.slice(targetEnd + 1)
  if (!methods.has(method) && !token.test(method)) throw new RejectedRequest(400, 'malformed request line')
  // Other servers treat what follows as a tunnel and not as a body.
  if (method === 'CONNECT') throw new RejectedRequest(400, 'CONNECT is not supported')
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0')
    throw /^HTTP\/\d\.\d$/.test(version)
      ? new RejectedRequest(505, 'unsupported protocol version')
      : new RejectedRequest(400, 'malformed HTTP version')
  return { method, target: targetOf(line.slice(methodEnd + 1, targetEnd)), isHttp10: version === 'HTTP/1.0' }
}

const absoluteForm = /^https?:\/\/[-\w.:[\]%~!$&'()*+,;=]+(?=[/?#]|$)/i

function targetOf(sent: string): string {
  if (sent.includes(' ') || sent.includes('\t')) throw new RejectedRequest(400, 'malformed request target')
  if (sent.startsWith('/') || sent === '*') return sent
  // The absolute form, which clients send to proxies. Every server must accept it (RFC 9112, 3.2.2).
  const authority = absoluteForm.exec(sent)?.[0]
  if (authority === undefined) throw new RejectedRequest(400, 'malformed request target')
  const path = sent.slice(authority.length)
  return path.startsWith('/') ? path : `/${path}`
}

/** Headers that are not lists: of several the first counts. */
const single = new Set(['authorization', 'content-type', 'from', 'if-none-match', 'referer', 'user-agent'])
/** Headers that must not be repeated. */
const once = new Set(['content-length', 'host', 'transfer-encoding'])
/** Some servers trim a tab around a value and others do not: these values must not depend on it. */
const framing = new Set(['content-length', 'transfer-encoding'])

function addHeader(
  text: string,
  at: number,
  end: number,
  headers: Record<string, string | undefined>,
  lines: string[],
): void {
  addLine(text, at, end, lines)
  const name = lines[lines.length - 2] ?? ''
  const value = lines[lines.length - 1] ?? ''
  const before = headers[name]
  if (before === undefined) headers[name] = value
  else if (once.has(name)) throw new RejectedRequest(400, `the header ${name} is repeated`)
  else if (!single.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
}

function addLine(text: string, at: number, end: number, lines: string[]): void {
  if (lines.length >= headersMax * 2) throw new RejectedRequest(431, 'too many headers')
  const colon = text.indexOf(':', at)
  // Rejects obs-fold too: a folded line begins with a space, and no name does.
  if (colon < 0 || colon > end) throw new RejectedRequest(400, 'malformed header line')
  const name = nameOf(text.slice(at, colon))
  const value = withoutBlanks(text, colon + 1, end)
  lines.push(name, value)
  if (framing.has(name) && text.slice(colon, end).includes('\t'))
    throw new RejectedRequest(400, `a tab in the header ${name}`)
}

const tab = 9
const space = 32
const isBlank = (text: string, at: number): boolean => text.charCodeAt(at) === space || text.charCodeAt(at) === tab

function withoutBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

/**
 * Common names in their usual spellings, which need neither validation nor conversion. The values are literals of this
 * source, so V8 has internalized them and finds properties by them quickly.
 */
const knownNames = new Map(
  [
    'accept',
    'accept-encoding',
    'audit-id',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'if-none-match',
    'kubectl-command',
    'kubectl-session',
    'transfer-encoding',
    'user-agent',
  ].flatMap((name) =>
    [name, name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())].map((written) => [written, name] as const),
  ),
)

function nameOf(written: string): string {
  const known = knownNames.get(written)
  if (known !== undefined) return known
  if (!token.test(written)) throw new RejectedRequest(400, 'malformed header name')
  return written.toLowerCase()
}

function bodyFraming(headers: RequestHead['headers'], isHttp10: boolean): BodyFraming {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (encoding === undefined) {
    if (length === undefined) return 0
    if (!/^\d{1,15}$/.test(length)) throw new RejectedRequest(400, 'bad Content-Length')
    return Number(length)
  }
  if (length !== undefined || isHttp10)
    throw new RejectedRequest(400, 'a Transfer-Encoding with a Content-Length or in HTTP/1.0')
  if (encoding.toLowerCase() !== 'chunked') throw new RejectedRequest(501, 'unsupported transfer encoding')
  return 'chunked'
}

function expectsContinue(expect: string | undefined, isHttp10: boolean): boolean {
  if (expect === undefined || isHttp10) return false
  if (expect.toLowerCase() !== '100-continue') throw new RejectedRequest(417, 'an expectation that cannot be met')
  return true
}
