// Sockets: datagrams (UDP) and byte streams (TCP) without a protocol of their own. Hosts are IP addresses.
import type { ByteStream } from '../http/byte-stream.ts'
import type { KeyPair } from '../http/listener.ts'

export interface Peer {
  readonly address: string
  readonly port: number
}

export interface DatagramSocket {
  readonly host: string
  readonly port: number
  /** A datagram may be lost, as in the network. One that the system cannot take soon is dropped. */
  send(bytes: Uint8Array, to: Peer): void
  close(): void
}

export interface BindOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The bytes are valid during the call and afterwards. Must not throw. */
  readonly onDatagram: (bytes: Uint8Array, from: Peer) => void
}

/** A socket that exchanges datagrams with one peer only. */
export interface ConnectedDatagrams {
  send(bytes: Uint8Array): void
  close(): void
}

export interface ConnectOptions {
  readonly onDatagram: (bytes: Uint8Array) => void
  /** The peer, or the network, has reported that nothing receives the datagrams. */
  readonly onUnreachable: () => void
}

export interface StreamListener {
  readonly host: string
  readonly port: number
  /** Closes all connections; resolves when they are closed. */
  close(): Promise<void>
}

export interface ListenStreamsOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly connectionsMax: number
  /** Open connections of one client (see clientKey). */
  readonly connectionsPerClientMax: number
  readonly onConnection: (stream: ByteStream, from: Peer) => void
}

export interface Sockets {
  bindDatagrams(options: BindOptions): Promise<DatagramSocket>
  /** The system selects a random port for each socket. */
  connectDatagrams(peer: Peer, options: ConnectOptions): Promise<ConnectedDatagrams>
  listenStreams(options: ListenStreamsOptions): Promise<StreamListener>
  connectStream(peer: Peer, signal: AbortSignal): Promise<ByteStream>
  /** The contents of a connection whose client speaks TLS. Rejects, and closes the connection, if the handshake fails. */
  acceptTls(stream: ByteStream, pair: KeyPair, signal: AbortSignal): Promise<ByteStream>
}
