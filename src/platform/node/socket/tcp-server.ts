// Acceptor: accepts TCP connections within the limits of a listener, and speaks TLS on them where it has a certificate.
// The event loop and the TLS thread use the same.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { realClock, type Clock } from '../../../base/time/clock.ts'
import { FairTurns } from '../../../base/work/fair-turns.ts'
import { clientKey } from '../../limits/client-key.ts'
import { ConnectionLimiter } from '../../limits/connection-limiter.ts'
import type { ListenLimits, OnShed } from '../../limits/listen-limits.ts'
import type { ListenTls } from '../../http/listener.ts'
import { detectProtocol, plainHttpResponse, plainProtocolOf, protocolOf } from './protocol-detection.ts'
import { secureContextOf, createTlsServer, serverNameContexts } from './tls-server.ts'

export interface TcpServerOptions {
  readonly tls: ListenTls | undefined
  readonly limits: ListenLimits
  readonly clock: Clock
  readonly onShed: OnShed
  /** Called when HTTP may begin, after the TLS handshake. */
  readonly onConnection: (socket: Socket | TLSSocket, isHttp2: boolean) => void
  /** Accepts HTTP/2 without TLS, with prior knowledge, beside HTTP/1.1. */
  readonly acceptsH2c?: boolean
}

export class TcpServer {
  readonly #options: TcpServerOptions
  readonly #server = createServer((socket) => this.#accept(socket))
  readonly #tlsServer: ReturnType<typeof createTlsServer> | undefined
  #contextOf: ReturnType<typeof serverNameContexts>
  readonly #limiter: ConnectionLimiter<Socket>
  readonly #sockets = new Set<Socket>()
  readonly #closed = new Promise<void>((resolve) => this.#server.once('close', resolve))
  /** Callbacks for completed handshakes, by the address and port of the client. */
  readonly #handshakes = new Map<string, () => void>()
  /** A handshake takes a millisecond. */
  readonly #turns = new FairTurns<string>(realClock, 'asynchronous')

  constructor(options: TcpServerOptions) {
    this.#options = options
    this.#limiter = new ConnectionLimiter(options.limits)
    this.#contextOf = serverNameContexts(options.tls)
    this.#tlsServer = options.tls && createTlsServer(options.tls, (name) => this.#contextOf(name))
    this.#tlsServer?.on('secureConnection', (socket: TLSSocket) => {
      this.#handshakes.get(peerOf(socket))?.()
      options.onConnection(socket, socket.alpnProtocol === 'h2')
    })
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    // A failed accept does not end the server: the next may succeed. The listener detects a lack of file descriptors.
    this.#server.on('error', () => {})
    return this.#server.address() as AddressInfo
  }

  renew(tls: ListenTls): void {
    this.#contextOf = serverNameContexts(tls)
    this.#tlsServer?.setSecureContext(secureContextOf(tls))
  }

  /** Stops accepting connections. */
  stopAccepting(): void {
    this.#server.close()
  }

  /** Closes all connections; resolves when they are closed. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await this.#closed
  }

  #accept(socket: Socket): void {
    const { onShed, onConnection, acceptsH2c = false } = this.#options
    const client = clientKey(socket.remoteAddress ?? '')
    socket.on('error', () => {}) // `close` follows
    const acceptance = this.#limiter.accept(client, socket)
    if (acceptance.kind === 'rejected') {
      onShed(acceptance.reason, 1, 0)
      return void socket.destroy()
    }
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#limiter.closed(client, socket)
    })
    if (acceptance.shed !== undefined) {
      onShed('handshakes', 1, 0)
      acceptance.shed.destroy()
    }
    if (this.#tlsServer !== undefined) return this.#handshake(socket, client)
    if (acceptsH2c) return this.#detectHttp2(socket, client)
    this.#limiter.established(client, socket)
    onConnection(socket, false)
  }

  /** The first bytes decide; until they have arrived, the limits of handshakes apply. */
  #detectHttp2(socket: Socket, client: string): void {
    const finish = this.#beginHandshake(socket, client)
    detectProtocol(socket, plainProtocolOf, (kind) => {
      finish()
      this.#options.onConnection(socket, kind === 'http2')
    })
  }

  #beginHandshake(socket: Socket, client: string): () => void {
    const { limits, clock, onShed } = this.#options
    const timer = clock.after(limits.handshakeMsMax, () => {
      onShed('handshake-timeout', 1, 0)
      socket.destroy()
    })
    socket.once('close', () => timer.cancel())
    return () => {
      timer.cancel()
      this.#limiter.established(client, socket)
    }
  }

  #handshake(socket: Socket, client: string): void {
    const peer = peerOf(socket)
    const finish = this.#beginHandshake(socket, client)
    this.#handshakes.set(peer, () => {
      this.#handshakes.delete(peer)
      finish()
    })
    socket.once('close', () => {
      if (this.#handshakes.delete(peer)) this.#options.onShed('handshake-failed', 1, 0)
    })
    detectProtocol(socket, protocolOf, (kind) => {
      if (kind === 'tls')
        this.#turns.start(client, () => {
          // The client may have given up.
          if (!socket.destroyed) this.#tlsServer?.emit('connection', socket)
        })
      else if (kind === 'http') socket.end(plainHttpResponse).resume()
      else socket.destroy()
    })
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
