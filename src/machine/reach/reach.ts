// PodReach: how a node reaches into the pods that it runs, to ask how they are. Drivers: the host's own network, and the
// simulated runtime's, whose containers listen in memory.
import type { ByteStream } from '../../platform/byte-stream.ts'

export interface ReachTarget {
  readonly host: string
  readonly port: number
}

export interface PodReach {
  /**
   * Opens a connection; with `tls` whoever answers is believed, as nobody has named its certificate. Rejects with
   * Unreachable.
   */
  connect(target: ReachTarget, tls: boolean, signal: AbortSignal): Promise<ByteStream>
  /** Asks grpc.health.v1.Health; answers with the name of the status. Rejects with GrpcError. */
  health(target: ReachTarget, service: string, signal: AbortSignal): Promise<string>
}

/** `192.0.2.1:80`, `[2001:db8::1]:80` */
export const authorityOf = ({ host, port }: ReachTarget): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
