// The messages of grpc.health.v1.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { enumeration, singular, protoMessage } from '../../wire/protobuf/proto-message.ts'

const servingStatus = enumeration('UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN')

const healthCheckRequest = protoMessage('grpc.health.v1.HealthCheckRequest', { service: singular(1, 'string') })
const healthCheckResponse = protoMessage('grpc.health.v1.HealthCheckResponse', { status: singular(1, servingStatus) })

export const healthCheck = grpcMethod('grpc.health.v1.Health', 'Check', healthCheckRequest, healthCheckResponse)
