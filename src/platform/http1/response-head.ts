// The head of an HTTP/1.1 response as text in which every character is a byte.
import type { ResponseFraming } from './response-framing.ts'

export function responseHead(
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
  { length, connection }: ResponseFraming,
  date: string,
): string {
  let text = `${statusLine(status)}date: ${date}\r\n`
  for (const name in headers) if (!isConnectionHeader(name)) text += headerLines(name, headers[name])
  if (typeof length === 'number') text += `content-length: ${length}\r\n`
  else if (length === 'chunked') text += 'transfer-encoding: chunked\r\n'
  if (connection !== undefined) text += `connection: ${connection}\r\n`
  return `${text}\r\n`
}

/** The head of a response after which the connection speaks another protocol. */
export function upgradeHead(status: number, headers: Readonly<Record<string, string | readonly string[]>>): string {
  let text = statusLine(status)
  for (const name in headers) text += headerLines(name, headers[name])
  return `${text}\r\n`
}

/** The trailers of a chunked body. */
export function trailerLines(trailers: Readonly<Record<string, string | readonly string[]>>): string {
  let text = ''
  for (const name in trailers) if (!isConnectionHeader(name)) text += headerLines(name, trailers[name])
  return text
}

/** Headers that describe the connection. The connection sets them, not the handler. */
function isConnectionHeader(name: string): boolean {
  switch (name) {
    case 'connection':
    case 'content-length':
    case 'date':
    case 'keep-alive':
    case 'transfer-encoding':
    case 'upgrade':
      return true
    default:
      return false
  }
}

export function headerLines(name: string, value: string | readonly string[] | undefined): string {
  if (value === undefined || !isName(name)) return ''
  if (typeof value !== 'string') return value.map((one) => headerLines(name, one)).join('')
  return `${name}: ${isPlain(value) ? value : value.replaceAll(notAllowed, ' ')}\r\n`
}

/** Characters that must not be in a header line. The headers of a proxied response may contain any. */
const notAllowed = /[^\t\x20-\x7e\x80-\xff]/g
const notAllowedInName = /[^!#$%&'*+\-.^_`|~\dA-Za-z]/

/** True for most values; a loop is faster than a regular expression here. */
function isPlain(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

/** Names that have been validated. */
const names = new Set<string>()
const namesMax = 256

function isName(name: string): boolean {
  if (names.has(name)) return true
  if (name === '' || notAllowedInName.test(name)) return false
  if (names.size < namesMax) names.add(name)
  return true
}

const statusLine = (status: number): string => statusLines.get(status) ?? `HTTP/1.1 ${status} \r\n`

const statusLines = new Map(
  Object.entries({
    100: 'Continue',
    101: 'Switching Protocols',
    200: 'OK',
    201: 'Created',
    202: 'Accepted',
    204: 'No Content',
    206: 'Partial Content',
    301: 'Moved Permanently',
    302: 'Found',
    303: 'See Other',
    304: 'Not Modified',
    307: 'Temporary Redirect',
    308: 'Permanent Redirect',
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    405: 'Method Not Allowed',
    406: 'Not Acceptable',
    408: 'Request Timeout',
    409: 'Conflict',
    410: 'Gone',
    412: 'Precondition Failed',
    413: 'Request Entity Too Large',
    415: 'Unsupported Media Type',
    416: 'Requested Range Not Satisfiable',
    417: 'Expectation Failed',
    422: 'Unprocessable Entity',
    429: 'Too Many Requests',
    431: 'Request Header Fields Too Large',
    500: 'Internal Server Error',
    501: 'Not Implemented',
    502: 'Bad Gateway',
    503: 'Service Unavailable',
    504: 'Gateway Timeout',
    505: 'HTTP Version Not Supported',
  }).map(([status, reason]) => [Number(status), `HTTP/1.1 ${status} ${reason}\r\n`]),
)

/** Whether a status is one of those that servers usually send. */
export const isUsualStatus = (status: number): boolean => statusLines.has(status)

/** The response to a malformed request, after which the connection is closed. */
export const rejectionText = (status: number, why: string): string => {
  const reason = statusLine(status).slice('HTTP/1.1 '.length, -2)
  const body = status === 431 ? reason : `${reason}: ${why}`
  return `${statusLine(status)}content-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
