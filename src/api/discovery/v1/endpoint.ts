// Endpoint and EndpointPort: the elements of an EndpointSlice.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, int32, list, map, message, string, struct } from '../../../schema/descriptor/field.ts'
import { objectReference } from '../../core/v1/references.ts'

export const endpointConditions = message('io.k8s.api.discovery.v1.EndpointConditions', {
  ready: bool(1, { pointer: true }),
  serving: bool(2, { pointer: true }),
  terminating: bool(3, { pointer: true }),
})
export interface EndpointConditions extends Infer<typeof endpointConditions> {}

export const forNode = message('io.k8s.api.discovery.v1.ForNode', {
  name: string(1, { required: true }),
})
export interface ForNode extends Infer<typeof forNode> {}

export const forZone = message('io.k8s.api.discovery.v1.ForZone', {
  name: string(1, { required: true }),
})
export interface ForZone extends Infer<typeof forZone> {}

export const endpointHints = message('io.k8s.api.discovery.v1.EndpointHints', {
  forZones: list(1, forZone, { listType: 'atomic' }),
  forNodes: list(2, forNode, { listType: 'atomic' }),
})
export interface EndpointHints extends Infer<typeof endpointHints> {}

export const endpoint = message('io.k8s.api.discovery.v1.Endpoint', {
  addresses: list(1, 'string', { required: true, listType: 'set' }),
  conditions: struct(2, endpointConditions),
  hostname: string(3, { pointer: true }),
  targetRef: struct(4, objectReference, { pointer: true }),
  deprecatedTopology: map(5, 'string'),
  nodeName: string(6, { pointer: true }),
  zone: string(7, { pointer: true }),
  hints: struct(8, endpointHints, { pointer: true }),
})
export interface Endpoint extends Infer<typeof endpoint> {}

export const endpointPort = atomicMessage('io.k8s.api.discovery.v1.EndpointPort', {
  name: string(1, { pointer: true, default: '' }),
  protocol: string(2, { pointer: true, default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  port: int32(3, { pointer: true }),
  appProtocol: string(4, { pointer: true }),
})
export interface EndpointPort extends Infer<typeof endpointPort> {}
