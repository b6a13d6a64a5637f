// CsiDriver: calls to a storage driver that implements CSI v1. Implementations: a driver process behind a unix socket,
// and a simulated one in memory. A failed call rejects with a GrpcError.
//
//   await driver.call(nodeService.nodeUnpublishVolume, { volumeId, targetPath }, signal)
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'

export interface CsiDriver {
  call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>>
  /** Ends calls in progress. */
  close(): void
}

/** Opens drivers by the path of their socket. Connections are opened by the first call. */
export interface CsiDrivers {
  open(socketPath: string): CsiDriver
}
