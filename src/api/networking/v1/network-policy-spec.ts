// NetworkPolicySpec.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, intOrString, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const networkPolicyPort = message('io.k8s.api.networking.v1.NetworkPolicyPort', {
  protocol: string(1, {
    pointer: true,
    default: 'TCP',
    enum: ['TCP', 'UDP', 'SCTP'],
    description: 'TCP (the default), UDP or SCTP.',
  }),
  port: intOrString(2, {
    pointer: true,
    description: 'The port, as a number or as the name of a port of a container; all without it.',
  }),
  endPort: int32(3, { pointer: true, description: 'The last port of a range that begins with port.' }),
})
export interface NetworkPolicyPort extends Infer<typeof networkPolicyPort> {}

export const ipBlock = message('io.k8s.api.networking.v1.IPBlock', {
  cidr: string(1, { required: true, description: 'The range, such as 192.0.2.0/24.' }),
  except: list(2, 'string', { listType: 'atomic', description: 'Ranges inside of it that are left out.' }),
})
export interface IPBlock extends Infer<typeof ipBlock> {}

export const networkPolicyPeer = message('io.k8s.api.networking.v1.NetworkPolicyPeer', {
  podSelector: struct(1, labelSelector, {
    pointer: true,
    description: 'Pods by their labels: of the namespace, or of the namespaces of namespaceSelector.',
  }),
  namespaceSelector: struct(2, labelSelector, { pointer: true, description: 'Namespaces by their labels.' }),
  ipBlock: struct(3, ipBlock, { pointer: true, description: 'A range of IP addresses, instead of selectors.' }),
})
export interface NetworkPolicyPeer extends Infer<typeof networkPolicyPeer> {}

export const networkPolicyEgressRule = message('io.k8s.api.networking.v1.NetworkPolicyEgressRule', {
  ports: list(1, networkPolicyPort, {
    listType: 'atomic',
    description: 'The ports that may be connected to; all without it.',
  }),
  to: list(2, networkPolicyPeer, { listType: 'atomic', description: 'Where to; everywhere without it.' }),
})
export interface NetworkPolicyEgressRule extends Infer<typeof networkPolicyEgressRule> {}

export const networkPolicyIngressRule = message('io.k8s.api.networking.v1.NetworkPolicyIngressRule', {
  ports: list(1, networkPolicyPort, {
    listType: 'atomic',
    description: 'The ports that may be reached; all without it.',
  }),
  from: list(2, networkPolicyPeer, { listType: 'atomic', description: 'Who may connect; everyone without it.' }),
})
export interface NetworkPolicyIngressRule extends Infer<typeof networkPolicyIngressRule> {}

export const networkPolicySpec = message('io.k8s.api.networking.v1.NetworkPolicySpec', {
  podSelector: struct(1, labelSelector, {
    description: 'The pods that the policy applies to; empty means all pods in the namespace.',
  }),
  ingress: list(2, networkPolicyIngressRule, { listType: 'atomic', description: 'Allowed incoming traffic.' }),
  egress: list(3, networkPolicyEgressRule, { listType: 'atomic', description: 'Allowed outgoing traffic.' }),
  policyTypes: list(4, 'string', {
    listType: 'atomic',
    enum: ['Egress', 'Ingress'],
    enumUnchecked: true,
    description: 'The directions that the policy restricts: by default Ingress, and Egress if there are rules for it.',
  }),
})
export interface NetworkPolicySpec extends Infer<typeof networkPolicySpec> {}
