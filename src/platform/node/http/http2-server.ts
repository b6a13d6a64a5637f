// Http2ServerConnection: an HTTP/2 session of Node.js, its limits and its streams.
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import { HeldBytes } from '../../limits/held-bytes.ts'
import { headBytesMax } from '../../http1/http1-connection.ts'
import { headersMax } from '../../http1/request-head.ts'
import { isVerified } from '../../http/listener.ts'
import type { ServedConnection } from '../../http/served-connection.ts'
import { headSecondsMax, idleSecondsMax, lingerSecondsMax } from '../../http/wire-timeouts.ts'
import type { AcceptedConnection } from '../acceptor/acceptor.ts'
import { ServedStream, type Http2ServerOptions } from './http2-stream.ts'

/** As upstream. */
const streamsMax = 100
/** What a client may send of a body before it is read; `streamsMax` times as much for all streams. */
const streamWindowBytes = (64 << 10) - 1
/** The client may reset this many streams at once, and this many each second (CVE-2023-44487). */
const resetsBurst = 500
const resetsPerSecond = 33
/** Beyond these the session is closed. */
const invalidFramesMax = 100
const rejectedStreamsMax = 100
/**
 * Memory of the session in Node.js, including responses being sent; beyond it new streams are rejected. It is large, so
 * that a long list does not block other requests. The effective limit is the memory budget of the listener.
 */
const sessionMegabytesMax = 256
/** Entries in a SETTINGS frame. nghttp2 bounds the queued replies to PING and SETTINGS. */
const settingsMax = 16
const pingsMax = 10

const sessionOptions = {
  maxHeaderListPairs: headersMax,
  maxOutstandingPings: pingsMax,
  maxSessionInvalidFrames: invalidFramesMax,
  maxSessionMemory: sessionMegabytesMax,
  maxSessionRejectedStreams: rejectedStreamsMax,
  maxSettings: settingsMax,
  settings: {
    initialWindowSize: streamWindowBytes,
    maxConcurrentStreams: streamsMax,
    maxHeaderListSize: headBytesMax,
  },
  streamResetBurst: resetsBurst,
  streamResetRate: resetsPerSecond,
} as const

/**
 * A client that ends its side is disconnected, as upstream does. Node.js would end the other side too, and its wrapper of a
 * stream throws when a session writes meanwhile, which nothing can catch.
 */
export function sessionOn(stream: Duplex): ServerHttp2Session {
  stream.once('end', () => stream.destroy())
  return performServerHandshake(stream, sessionOptions)
}

export class Http2ServerConnection implements ServedConnection {
  readonly client: string
  readonly #peer: AcceptedConnection
  readonly #session: ServerHttp2Session
  readonly #options: Http2ServerOptions
  readonly #streams = new Set<ServedStream>()
  /** Bytes of all streams that wait in the socket. */
  readonly #held: HeldBytes
  #isAuthenticated: boolean
  #idleSinceSecond: number
  /** When the connection is closed, unless something happens before. */
  #dueSecond: number
  #revokedSecond = Infinity

  constructor(peer: AcceptedConnection, options: Http2ServerOptions) {
    this.client = options.client
    this.#peer = peer
    this.#options = options
    this.#isAuthenticated = isVerified(options.certificate)
    this.#held = new HeldBytes(options.budget, this, () => peer.destroy())
    this.#idleSinceSecond = options.second()
    this.#dueSecond = options.second() + headSecondsMax
    this.#session = sessionOn(peer.stream())
    this.#session.on('error', () => {}) // `close` follows
    this.#session.once('remoteSettings', () => void (this.isBusy || this.#idle()))
    // The client may keep its side of the connection open.
    this.#session.once('close', () => (this.#dueSecond = options.second() + lingerSecondsMax))
    this.#session.on('stream', (stream, headers, _flags, raw) => {
      this.#dueSecond = Infinity
      const served = new ServedStream(stream, headers, raw, this, options)
      this.#streams.add(served)
      stream.once('close', () => {
        this.#streams.delete(served)
        if (this.#streams.size === 0) this.#idle()
      })
      served.open()
      void served.respond()
    })
    peer.onClosed(() => this.#held.release())
  }

  get isBusy(): boolean {
    return this.#streams.size > 0
  }

  get isAuthenticated(): boolean {
    return this.#isAuthenticated
  }

  get idleSeconds(): number {
    return this.isBusy || this.#session.closed ? 0 : this.#options.second() - this.#idleSinceSecond
  }

  /**
   * As upstream: an unauthenticated client may send one request per connection, because multiplexed requests are cheap
   * for an attacker (CVE-2023-44487). A server can make exceptions for its responses.
   */
  responding(isAuthenticated: boolean, keepsConnection: boolean): void {
    this.#isAuthenticated ||= isAuthenticated
    if (!this.#isAuthenticated && !keepsConnection && this.#options.verifiesClients) this.drain()
  }

  drain(): void {
    if (this.#session.closed) return
    this.#session.close()
    if (!this.isBusy) this.#dueSecond = this.#options.second() + lingerSecondsMax
  }

  tick(): void {
    const second = this.#options.second()
    for (const stream of this.#streams) stream.tick()
    this.#held.measure(this.#peer, 0, false)
    if (second < this.#dueSecond && second < this.#revokedSecond) return
    if (this.#session.closed || second >= this.#revokedSecond) return this.#peer.destroy()
    this.drain()
  }

  revoke(): void {
    if (this.#revokedSecond < Infinity) return
    this.#revokedSecond = this.#options.second() + lingerSecondsMax
    this.#isAuthenticated = false
    this.drain()
    for (const stream of this.#streams) stream.endWatch()
  }

  #idle(): void {
    this.#idleSinceSecond = this.#options.second()
    this.#dueSecond = this.#idleSinceSecond + (this.#session.closed ? lingerSecondsMax : idleSecondsMax)
  }
}
