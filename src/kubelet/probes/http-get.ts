// httpGet: one GET request to a pod. Only the head of the response is read.
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

export interface HttpHead {
  readonly status: number
  readonly location: string | undefined
}

const headBytesMax = 64 * 1024

export const urlOf = (target: HttpTarget): string => `${target.scheme}://${authorityOf(target)}${target.path}`

/** Rejects with Unreachable when the connection fails, and with an Error when the response is invalid. */
export async function httpGet(target: HttpTarget, dialer: PodDialer, signal: AbortSignal): Promise<HttpHead> {
  const stream = await dialer.connect(target, target.scheme === 'https', signal)
  const end = () => stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  try {
    await stream.write(new TextEncoder().encode(requestText(target)))
    return await readHead(stream)
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

async function readHead(stream: ByteStream): Promise<HttpHead> {
  let text = ''
  const decoder = new TextDecoder('latin1')
  for await (const piece of stream.pieces) {
    text += decoder.decode(piece, { stream: true })
    const end = text.indexOf('\r\n\r\n')
    if (end !== -1) return parseHead(text.slice(0, end))
    if (text.length > headBytesMax) break
  }
  if (text === '') throw new Error('EOF')
  return parseHead(text)
}

function parseHead(text: string): HttpHead {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/\d(?:\.\d)? (\d{3})/.exec(first)?.[1]
  if (status === undefined) throw new Error(`malformed HTTP response ${JSON.stringify(first.slice(0, 100))}`)
  const location = lines.find((line) => /^location:/i.test(line))
  return { status: Number(status), location: location?.slice(location.indexOf(':') + 1).trim() }
}
