// PodDialer: connections from the node to its pods, for probes and hooks. Drivers: the host's network, and the
// simulated runtime, whose containers listen in memory.
import { joinHostPort } from '../../base/net/host-port.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'

export interface DialTarget {
  readonly host: string
  readonly port: number
}

export interface PodDialer {
  /**
   * Opens a connection; with `tls` the certificate is not verified, as in upstream's probes. Rejects with Unreachable.
   */
  connect(target: DialTarget, tls: boolean, signal: AbortSignal): Promise<ByteStream>
  /** Calls grpc.health.v1.Health/Check; resolves with the name of the status. Rejects with GrpcError. */
  checkHealth(target: DialTarget, service: string, signal: AbortSignal): Promise<string>
}

/** `192.0.2.1:80`, `[2001:db8::1]:80` */
export const authorityOf = ({ host, port }: DialTarget): string => joinHostPort(host, port)
