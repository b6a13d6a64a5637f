// EndpointSubset: addresses with the same ports.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { objectReference } from '../references.ts'

export const endpointAddress = atomicMessage('io.k8s.api.core.v1.EndpointAddress', {
  ip: string(1, { required: true }),
  targetRef: struct(2, objectReference, { pointer: true }),
  hostname: string(3),
  nodeName: string(4, { pointer: true }),
})
export interface EndpointAddress extends Infer<typeof endpointAddress> {}

export const endpointPort = atomicMessage('io.k8s.api.core.v1.EndpointPort', {
  name: string(1),
  port: int32(2, { required: true }),
  protocol: string(3, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  appProtocol: string(4, { pointer: true }),
})
export interface EndpointPort extends Infer<typeof endpointPort> {}

export const endpointSubset = message('io.k8s.api.core.v1.EndpointSubset', {
  addresses: list(1, endpointAddress, { listType: 'atomic' }),
  notReadyAddresses: list(2, endpointAddress, { listType: 'atomic' }),
  ports: list(3, endpointPort, { listType: 'atomic' }),
})
export interface EndpointSubset extends Infer<typeof endpointSubset> {}
