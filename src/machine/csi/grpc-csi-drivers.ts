// CSI drivers behind unix sockets.
import type { Clock } from '../../base/time/clock.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import { GrpcChannel, noMetadata } from '../../wire/grpc/grpc-channel.ts'
import type { CsiDrivers } from './csi-driver.ts'

export interface GrpcCsiDriversDeps {
  readonly http2: Http2Provider
  readonly clock: Clock
}

export const grpcCsiDrivers = ({ http2, clock }: GrpcCsiDriversDeps): CsiDrivers => ({
  open(socketPath) {
    const channel = new GrpcChannel({ http2, clock, endpoint: `unix:${socketPath}` })
    return {
      call: (method, request, signal) => channel.unary(method, request, noMetadata, signal),
      close: () => channel.close(),
    }
  },
})
