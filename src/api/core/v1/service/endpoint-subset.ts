// EndpointSubset: addresses with the same ports.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { objectReference } from '../references.ts'

export const endpointAddress = atomicMessage('io.k8s.api.core.v1.EndpointAddress', {
  ip: string(1, { required: true, description: 'The IP address.' }),
  targetRef: struct(2, objectReference, { pointer: true, description: 'The object at the address, usually a pod.' }),
  hostname: string(3, { description: 'The host name of the endpoint.' }),
  nodeName: string(4, { pointer: true, description: 'The node of the endpoint.' }),
})
export interface EndpointAddress extends Infer<typeof endpointAddress> {}

export const endpointPort = atomicMessage('io.k8s.api.core.v1.EndpointPort', {
  name: string(1, { description: 'The name of the port of the Service.' }),
  port: int32(2, { required: true, description: 'The port of the endpoint.' }),
  protocol: string(3, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'], description: 'TCP (the default), UDP or SCTP.' }),
  appProtocol: string(4, { pointer: true, description: 'The protocol of the application.' }),
})
export interface EndpointPort extends Infer<typeof endpointPort> {}

export const endpointSubset = message('io.k8s.api.core.v1.EndpointSubset', {
  addresses: list(1, endpointAddress, { listType: 'atomic', description: 'The addresses that are ready.' }),
  notReadyAddresses: list(2, endpointAddress, { listType: 'atomic', description: 'The addresses that are not ready.' }),
  ports: list(3, endpointPort, { listType: 'atomic', description: 'The ports of these addresses.' }),
})
export interface EndpointSubset extends Infer<typeof endpointSubset> {}
