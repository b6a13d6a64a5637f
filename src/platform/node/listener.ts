import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from 'node:http2'
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { gzip } from 'node:zlib'
import { realClock } from '../../base/clock.ts'
import {
  BodyTooLarge,
  type ClientAuthority,
  type ClientCertificate,
  type ListenerProvider,
  type ListenTls,
  type WireAnswer,
  type WirePieces,
  type WireRequest,
} from '../listener.ts'
import { byteStreamOn } from './byte-stream.ts'

type Request = Http2ServerRequest | IncomingMessage
// HTTP/2's compatible response has the same methods; its type differs only in what it forbids.
type Response = ServerResponse

const headersMsMax = 30_000
/** As upstream: a connection without requests is kept this long. */
const idleMsMax = 90_000
const forbiddenInHttp2 = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

export const nodeListeners: ListenerProvider = {
  async listen({ host, port, tls, handle }) {
    const secured =
      tls &&
      createSecureServer({
        allowHTTP1: true,
        ...contextOf(tls),
        requestCert: true,
        rejectUnauthorized: false, // who presents no certificate may still present a token
      })
    const server = secured ?? createServer()
    let roots = rootsOf(tls)
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    server.on('sessionError', () => {}) // a broken peer ends its own session, nobody else's
    server.setTimeout(0)
    // The server speaks HTTP/1.1 too, and has that server's settings; only its type does not say so.
    Object.assign(server, { headersTimeout: headersMsMax, keepAliveTimeout: idleMsMax })
    const open = new Set<Response>()
    server.on('request', (request: Request, response: Response) => {
      open.add(response)
      response.once('close', () => open.delete(response))
      void answer(request, response, roots, handle)
    })
    server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      void upgrade(request, socket, head, roots, handle)
    })
    server.listen(port, host)
    await once(server, 'listening')
    const address = server.address() as AddressInfo
    return {
      host: address.address,
      port: address.port,
      renew(fresh) {
        secured?.setSecureContext(contextOf(fresh))
        roots = rootsOf(fresh)
      },
      close: (graceMs) => close(server, sockets, open, graceMs),
    }
  },
}

const contextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})

/** Which authority a root certificate stands for, by its fingerprint. */
type Roots = ReadonlyMap<string, ClientAuthority>

const rootsOf = ({ clientAuthorities }: Pick<ListenTls, 'clientAuthorities'> = { clientAuthorities: {} }): Roots =>
  new Map(
    (Object.entries(clientAuthorities) as [ClientAuthority, string][]).flatMap(([authority, bundle]) =>
      (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) => [
        new X509Certificate(pem).fingerprint256,
        authority,
      ]),
    ),
  )

async function answer(
  request: Request,
  response: Response,
  roots: Roots,
  handle: (request: WireRequest) => Promise<WireAnswer>,
): Promise<void> {
  const gone = new AbortController()
  let isComplete = false
  response.once('close', () => {
    if (!isComplete) gone.abort(new DOMException('the client went away', 'AbortError'))
  })
  response.on('error', () => gone.abort())
  try {
    const { status, headers, body } = await handle(toWireRequest(request, roots, gone))
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const isZipped = body.length >= zippedBytesMin && acceptsGzip(request)
      const bytes = isZipped ? await zipped(body) : body
      response.writeHead(status, headersOf(request, headers, bytes, isZipped))
      isComplete = true
      response.end(request.method === 'HEAD' ? undefined : bytes)
      return
    }
    response.writeHead(status, headersOf(request, headers))
    if ('take' in body) await writePieces(response, body)
    else await writeStream(response, body, gone.signal)
    isComplete = true
  } catch {
    if (!response.headersSent) response.writeHead(500)
    response.end()
  }
}

/** As upstream: smaller answers are not worth the work. */
const zippedBytesMin = 128 * 1024

const acceptsGzip = (request: Request): boolean => /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')

const zipped = (body: string | Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    gzip(body, { level: 1 }, (error, bytes) => (error === null ? resolve(bytes) : reject(error))),
  )

function headersOf(
  request: Request,
  headers: WireAnswer['headers'],
  body?: string | Uint8Array,
  isZipped = false,
): Record<string, string | number | string[]> {
  const isHttp2 = request.httpVersionMajor === 2
  const written: Record<string, string | number | string[]> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && (!isHttp2 || !forbiddenInHttp2.has(name)))
      written[name] = typeof value === 'string' ? value : [...value]
  }
  if (body !== undefined) written['content-length'] = Buffer.byteLength(body)
  if (isZipped) Object.assign(written, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  return written
}

/** Writes what there is whenever there is something and the client can take it; resolved at the end. */
function writePieces(response: Response, pieces: WirePieces): Promise<void> {
  response.flushHeaders()
  return new Promise((resolve) => {
    let [isBlocked, isPlanned, isOver] = [false, false, false]
    const stop = () => {
      if (isOver) return
      isOver = true
      pieces.close()
      resolve()
    }
    const flush = () => {
      isPlanned = false
      if (isBlocked || isOver) return
      const batch = pieces.take()
      if (batch === undefined) {
        response.end()
        return stop()
      }
      const [only] = batch
      if (only === undefined) return
      isBlocked = !response.write(batch.length === 1 ? only : Buffer.concat(batch))
      // A long batch blocks the response until it is written: others have their turn before the next.
      plan()
    }
    const plan = () => {
      if (isPlanned || isBlocked || isOver) return
      isPlanned = true
      queueMicrotask(flush)
    }
    response.on('drain', () => {
      isBlocked = false
      plan()
    })
    response.once('close', stop)
    pieces.listen(plan)
  })
}

/** A request that asks to leave HTTP: it is either handed over, or answered and closed. */
async function upgrade(
  request: IncomingMessage,
  socket: TLSSocket,
  head: Buffer,
  roots: Roots,
  handle: (request: WireRequest) => Promise<WireAnswer>,
): Promise<void> {
  const gone = new AbortController()
  socket.once('close', () => gone.abort(new DOMException('the client went away', 'AbortError')))
  socket.on('error', () => gone.abort())
  try {
    const answer = await handle({ ...toWireRequest(request, roots, gone), upgrade: true })
    const { status, headers, takeOver } = answer
    const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
    const body = takeOver === undefined ? await wholeBody(answer.body) : Buffer.alloc(0)
    if (takeOver === undefined) lines.push(`content-length: ${body.length}`, 'connection: close')
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`)
    if (takeOver === undefined) socket.end(body)
    else {
      if (head.length > 0) socket.unshift(head)
      await takeOver(byteStreamOn(socket))
    }
  } catch {
    socket.destroy()
  }
}

async function wholeBody(body: WireAnswer['body']): Promise<Buffer> {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  if ('take' in body) throw new Error('a request to upgrade is not answered with a stream')
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

async function writeStream(
  response: Response,
  body: AsyncIterable<Uint8Array | string>,
  gone: AbortSignal,
): Promise<void> {
  response.flushHeaders()
  for await (const piece of body) {
    if (gone.aborted) return
    if (!response.write(piece)) await once(response, 'drain', { signal: gone })
  }
  response.end()
}

function toWireRequest(request: Request, roots: Roots, gone: AbortController): WireRequest {
  const socket = (
    request instanceof Object && 'stream' in request ? request.stream?.session?.socket : request.socket
  ) as TLSSocket | undefined
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers as Record<string, string | undefined>,
    headerValues: (name) => headerValues(request.rawHeaders, name),
    remoteAddress: socket?.remoteAddress ?? '',
    certificate: socket === undefined ? undefined : clientCertificate(socket, roots),
    signal: gone.signal,
    cancel: (reason) => gone.abort(reason),
    upgrade: false,
    body: (bytesMax) => readBody(request, bytesMax),
  }
}

function headerValues(raw: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < raw.length; index += 2)
    if (raw[index]?.toLowerCase() === name) values.push(raw[index + 1] ?? '')
  return values
}

const certificates = new WeakMap<TLSSocket, ClientCertificate | undefined>()

// Reading the certificate is slow and it does not change while the connection lives.
function clientCertificate(socket: TLSSocket, roots: Roots): ClientCertificate | undefined {
  if (certificates.has(socket)) return certificates.get(socket)
  const certificate = socket.authorized ? readCertificate(socket.getPeerCertificate(true), roots) : undefined
  certificates.set(socket, certificate)
  return certificate
}

function readCertificate(peer: DetailedPeerCertificate, roots: Roots): ClientCertificate | undefined {
  const authority = roots.get(rootOf(peer).fingerprint256)
  if (peer.subject === undefined || authority === undefined) return undefined
  const organizations: unknown = peer.subject.O
  return {
    commonName: String(peer.subject.CN ?? ''),
    organizations: organizations === undefined ? [] : [organizations].flat().map(String),
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    authority,
  }
}

function rootOf(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  const { issuerCertificate: issuer } = certificate
  return issuer === undefined || issuer === certificate ? certificate : rootOf(issuer)
}

function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    request.on('data', (piece: Buffer) => {
      size += piece.length
      if (size <= bytesMax) pieces.push(piece)
      else reject(new BodyTooLarge(`the body is larger than ${bytesMax} bytes`))
    })
    request.on('end', () => resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)))
    request.on('error', reject)
    request.on('aborted', () => reject(new DOMException('the client went away', 'AbortError')))
  })
}

async function close(
  server: Http2SecureServer | Server,
  sockets: Set<Socket>,
  open: Set<Response>,
  graceMs: number,
): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  if (open.size > 0 && graceMs > 0)
    await Promise.race([
      Promise.all([...open].map((response) => once(response, 'close'))),
      realClock.sleep(graceMs, new AbortController().signal),
    ])
  for (const socket of sockets) socket.destroy()
  await closed
}
