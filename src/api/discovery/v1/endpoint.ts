// Endpoint and EndpointPort: the elements of an EndpointSlice.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, int32, list, map, message, string, struct } from '../../../schema/descriptor/field.ts'
import { objectReference } from '../../core/v1/references.ts'

export const endpointConditions = message('io.k8s.api.discovery.v1.EndpointConditions', {
  ready: bool(1, { pointer: true, description: 'Whether it takes new connections; unknown counts as true.' }),
  serving: bool(2, { pointer: true, description: 'Whether it passes its readiness probe, also while it ends.' }),
  terminating: bool(3, { pointer: true, description: 'Whether it is ending.' }),
})
export interface EndpointConditions extends Infer<typeof endpointConditions> {}

export const forNode = message('io.k8s.api.discovery.v1.ForNode', {
  name: string(1, { required: true, description: 'The name of the node.' }),
})
export interface ForNode extends Infer<typeof forNode> {}

export const forZone = message('io.k8s.api.discovery.v1.ForZone', {
  name: string(1, { required: true, description: 'The name of the zone.' }),
})
export interface ForZone extends Infer<typeof forZone> {}

export const endpointHints = message('io.k8s.api.discovery.v1.EndpointHints', {
  forZones: list(1, forZone, { listType: 'atomic', description: 'The zones whose clients should use it.' }),
  forNodes: list(2, forNode, { listType: 'atomic', description: 'The nodes whose clients should use it.' }),
})
export interface EndpointHints extends Infer<typeof endpointHints> {}

export const endpoint = message('io.k8s.api.discovery.v1.Endpoint', {
  addresses: list(1, 'string', {
    required: true,
    listType: 'set',
    description: 'The addresses of the endpoint; clients use the first one.',
  }),
  conditions: struct(2, endpointConditions, { description: 'Whether the endpoint can be used.' }),
  hostname: string(3, { pointer: true, description: 'The host name of the endpoint.' }),
  targetRef: struct(4, objectReference, { pointer: true, description: 'The object of the endpoint, usually a pod.' }),
  deprecatedTopology: map(5, 'string', { description: 'Labels of former versions.' }),
  nodeName: string(6, { pointer: true, description: 'The node of the endpoint.' }),
  zone: string(7, { pointer: true, description: 'The zone of the endpoint.' }),
  hints: struct(8, endpointHints, { pointer: true, description: 'Who should use the endpoint.' }),
})
export interface Endpoint extends Infer<typeof endpoint> {}

export const endpointPort = atomicMessage('io.k8s.api.discovery.v1.EndpointPort', {
  name: string(1, { pointer: true, default: '', description: 'The name of the port of the Service.' }),
  protocol: string(2, {
    pointer: true,
    default: 'TCP',
    enum: ['SCTP', 'TCP', 'UDP'],
    description: 'TCP (the default), UDP or SCTP.',
  }),
  port: int32(3, { pointer: true, description: 'The port of the endpoints; all ports without it.' }),
  appProtocol: string(4, { pointer: true, description: 'The protocol of the application.' }),
})
export interface EndpointPort extends Infer<typeof endpointPort> {}
