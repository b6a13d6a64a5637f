// Compresses long responses for clients that accept gzip.
import { createGzip, gzip } from 'node:zlib'
import type { WireResponse, WirePieces, WireRequest } from '../../http/listener.ts'

/** As upstream: smaller responses are not compressed. */
const zippedBytesMin = 128 * 1024

export function compressed(request: WireRequest, response: WireResponse): WireResponse | Promise<WireResponse> {
  const { body } = response
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  const isLong = isWhole ? body.length >= zippedBytesMin : 'take' in body && body.isLong === true
  if ('content-encoding' in response.headers || !isLong || !acceptsGzip(request.headers['accept-encoding'] ?? ''))
    return response
  const headers = { ...response.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
  if (!isWhole && request.method === 'HEAD') return { ...response, headers }
  if (!isWhole) return { ...response, headers, body: zippedPieces(body as WirePieces) }
  return zipped(body).then((bytes) => ({ ...response, headers, body: bytes }))
}

const acceptsGzip = (accepted: string): boolean =>
  accepted.split(',').some((coding) => {
    const [name = '', weight = 'q=1', ...more] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && more.length === 0 && isPositive(weight)
  })

/** `q=0.5`: at most one, with at most three decimals (RFC 9110, 12.4.2). */
const isPositive = (weight: string): boolean =>
  /^q=(0?\.\d{0,3}|1(\.0{0,3})?)$/.test(weight) && Number(weight.slice(2)) > 0

const zipped = (body: string | Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    gzip(body, { level: 1 }, (error, bytes) => (error === null ? resolve(bytes) : reject(error))),
  )

async function* zippedPieces(pieces: WirePieces): AsyncGenerator<Uint8Array> {
  const stream = createGzip({ level: 1 })
  const drained = () => new Promise<void>((resolve) => stream.once('drain', resolve))
  const feed = async () => {
    for await (const piece of each(pieces)) if (!stream.write(piece)) await drained()
    stream.end()
  }
  feed().catch((error: Error) => stream.destroy(error))
  try {
    yield* stream as AsyncIterable<Buffer>
  } finally {
    pieces.close()
    stream.destroy()
  }
}

async function* each(pieces: WirePieces): AsyncGenerator<Uint8Array> {
  let woken = Promise.withResolvers<void>()
  pieces.listen(() => woken.resolve())
  for (let batch = pieces.take(); batch !== undefined; batch = pieces.take()) {
    yield* batch
    if (batch.length > 0) continue
    await woken.promise
    woken = Promise.withResolvers()
  }
}
