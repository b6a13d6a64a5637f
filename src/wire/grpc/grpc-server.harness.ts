// A gRPC server for tests, on plain HTTP/2, TLS or a unix socket. Methods get raw messages and the HTTP/2 stream, so
// that they can violate the protocol.
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { frame, FrameReader } from './grpc-frame.ts'

export interface ServedCall {
  readonly stream: ServerHttp2Stream
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The messages of the client. */
  readonly messages: AsyncIterable<Uint8Array>
  /** Sends the headers before the first message. */
  send(message: Uint8Array): boolean
  /** Ends the call. */
  finish(status: number, message?: string): void
}

export type ServedMethods = Readonly<Record<string, (call: ServedCall) => unknown>>

export interface GrpcServer extends AsyncDisposable {
  readonly endpoint: string
  readonly sessions: ReadonlySet<ServerHttp2Session>
  /** How many connections were accepted. */
  readonly connections: number
}

export interface ServeOptions {
  readonly path?: string
  /** A loopback address and a port; by default 127.0.0.1 and any free one. */
  readonly host?: string
  readonly port?: number
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca: string }
}

export async function serveGrpc(
  methods: ServedMethods,
  { path, host = '127.0.0.1', port = 0, tls }: ServeOptions = {},
): Promise<GrpcServer> {
  const server: Http2Server =
    tls === undefined ? createServer() : createSecureServer({ ...tls, requestCert: true, rejectUnauthorized: true })
  const sessions = new Set<ServerHttp2Session>()
  let connections = 0
  server.on('session', (session) => {
    connections++
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {})
    const method = methods[String(headers[':path'])]
    const call = served(stream, headers)
    if (method === undefined) return call.finish(12, 'unknown method')
    void Promise.resolve(method(call)).catch(() => stream.destroy())
  })
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(port, host, resolve) : server.listen(path, resolve),
  )
  const scheme = tls === undefined ? 'http' : 'https'
  return {
    endpoint: path === undefined ? `${scheme}://${host}:${(server.address() as AddressInfo).port}` : `unix:${path}`,
    sessions,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function served(stream: ServerHttp2Stream, headers: ServedCall['headers']): ServedCall {
  const respond = () => {
    if (stream.headersSent || stream.destroyed) return
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  }
  return {
    stream,
    headers,
    messages: messagesOn(stream),
    send(message) {
      respond()
      return stream.write(frame(message))
    },
    finish(status, message = '') {
      respond()
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': encodeURIComponent(message) }),
      )
      stream.end()
    },
  }
}

async function* messagesOn(stream: ServerHttp2Stream): AsyncGenerator<Uint8Array> {
  const reader = new FrameReader(100_000_000)
  for await (const piece of stream) yield* reader.push(piece as Uint8Array)
}
