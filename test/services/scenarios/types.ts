// Changes of the type of a Service: what is allocated, released and rejected.
import { create, createOnly, onePort, patch, patchStatus, replace, type Scenario } from '../scenario.ts'

const alias = { type: 'ExternalName', externalName: 'example.com' }

export const typeScenarios: readonly Scenario[] = [
  {
    name: 'ClusterIP to ExternalName and back',
    steps: [
      create('a', { ipFamilyPolicy: 'PreferDualStack' }),
      patch('a', alias),
      patch('a', { ipFamilyPolicy: 'PreferDualStack' }),
      patch('a', { ipFamilies: ['IPv4'] }),
      patch('a', { clusterIP: '10.96.0.60' }),
      patch('a', { type: 'ClusterIP' }),
      patch('a', { type: 'ClusterIP', externalName: null }),
      createOnly('b', alias),
      createOnly('c', { ...alias, clusterIP: 'None' }),
      createOnly('d', { ...alias, clusterIP: '10.96.0.61' }),
      createOnly('e', { type: 'ExternalName' }),
      createOnly('f', { ...alias, ports: [{ port: 80, nodePort: 30_010 }], ipFamilyPolicy: 'SingleStack' }),
      patch('b', { type: 'ClusterIP', clusterIP: 'None', ...onePort }),
    ],
  },
  {
    name: 'node ports and load balancers',
    steps: [
      create('a', { type: 'NodePort' }),
      replace('a', { type: 'NodePort' }),
      patch('a', { type: 'LoadBalancer' }),
      patch('a', { externalTrafficPolicy: 'Local' }),
      replace('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
      patch('a', { healthCheckNodePort: 30_011 }),
      patch('a', { externalTrafficPolicy: 'Cluster' }),
      patch('a', { externalTrafficPolicy: 'Cluster', healthCheckNodePort: null }),
      patch('a', { allocateLoadBalancerNodePorts: false }),
      patch('a', { allocateLoadBalancerNodePorts: false, ports: [{ port: 80, nodePort: null }] }),
      patchStatus('a', { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }),
      patch('a', { type: 'ClusterIP' }),
      patch('a', { type: 'ClusterIP', allocateLoadBalancerNodePorts: null, externalTrafficPolicy: null }),
      patch('a', { externalIPs: ['192.0.2.10'] }),
      patch('a', { clusterIP: 'None' }),
      create('b', { type: 'NodePort', clusterIP: 'None' }),
      create('c', { type: 'LoadBalancer', loadBalancerClass: 'example.com/one' }),
      patch('c', { loadBalancerClass: 'example.com/two' }),
      patch('c', { type: 'NodePort' }),
    ],
  },
]
