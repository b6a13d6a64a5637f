// PodReach: how a node reaches into the pods that it runs, to ask how they are. Drivers: the host's own network, and the
// simulated runtime's, whose containers listen in memory.
import type { ByteStream } from '../../platform/http/byte-stream.ts'

export interface DialTarget {
  readonly host: string
  readonly port: number
}

export interface PodDialer {
  /**
   * Opens a connection; with `tls` whoever answers is believed, as nobody has named its certificate. Rejects with
   * Unreachable.
   */
  connect(target: DialTarget, tls: boolean, signal: AbortSignal): Promise<ByteStream>
  /** Asks grpc.health.v1.Health; answers with the name of the status. Rejects with GrpcError. */
  checkHealth(target: DialTarget, service: string, signal: AbortSignal): Promise<string>
}

/** `192.0.2.1:80`, `[2001:db8::1]:80` */
export const authorityOf = ({ host, port }: DialTarget): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
