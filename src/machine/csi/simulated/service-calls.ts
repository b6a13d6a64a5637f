// The type of a service's implementation: one function per method.
import type { GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import type { Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'

export type ServiceCalls<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends GrpcMethod<infer Q, infer A>
    ? (request: Proto<Q>) => ProtoInput<A> | Promise<ProtoInput<A>>
    : never
}
