// Node ports: requested, chosen, repeated, shared between protocols, and used up.
import { create, dryRun, patch, replace, type Scenario } from '../scenario.ts'

const port = (name: string, number: number, more: object = {}): object => ({ name, port: number, ...more })
const dns = [port('udp', 53, { protocol: 'UDP' }), port('tcp', 53)]

export const portScenarios: readonly Scenario[] = [
  {
    name: 'node ports',
    steps: [
      create('a', { type: 'NodePort', ports: [port('one', 80, { nodePort: 30_020 })] }),
      create('b', { type: 'NodePort', ports: [port('one', 80, { nodePort: 30_020 })] }),
      create('b', { type: 'NodePort', ports: [port('one', 80, { nodePort: 29_999 })] }),
      create('b', { type: 'NodePort', ports: [port('one', 80, { nodePort: 32_768 })] }),
      create('b', { type: 'NodePort', ports: [port('one', 80, { nodePort: -1 })] }),
      create('b', { type: 'ClusterIP', ports: [port('one', 80, { nodePort: 30_021 })] }),
      create('b', { type: 'NodePort', ports: dns }),
      replace('b', { type: 'NodePort', ports: dns }),
      create('c', {
        type: 'NodePort',
        ports: [port('udp', 53, { protocol: 'UDP', nodePort: 30_022 }), port('tcp', 53, { nodePort: 30_022 })],
      }),
      create('d', {
        type: 'NodePort',
        ports: [port('one', 80, { nodePort: 30_023 }), port('two', 81, { nodePort: 30_023 })],
      }),
      create('e', { type: 'NodePort', ports: [port('one', 80), port('two', 80)] }),
      create('e', { type: 'NodePort', ports: [port('one', 80), port('one', 81)] }),
      create('e', { type: 'NodePort', ports: [port('one', 80, { nodePort: 30_024 }), port('two', 81)] }),
      patch('e', { ports: [port('one', 80, { nodePort: 30_025 }), port('two', 81, { nodePort: 30_024 })] }),
      patch('e', { ports: [port('one', 80, { nodePort: 30_020 })] }),
      dryRun(create('f', { type: 'NodePort' })),
    ],
  },
  {
    name: 'health check node ports',
    steps: [
      create('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_030 }),
      create('b', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_030 }),
      create('b', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 80 }),
      create('b', { type: 'LoadBalancer', healthCheckNodePort: 30_031 }),
      create('b', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', allocateLoadBalancerNodePorts: false }),
      create('c', {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30_032,
        ports: [port('one', 80, { nodePort: 30_032 })],
      }),
      patch('a', { type: 'NodePort' }),
      patch('a', { type: 'ClusterIP' }),
    ],
  },
]

export const scarcePortScenarios: readonly Scenario[] = [
  {
    name: 'node ports are used up',
    steps: [
      create('a', {
        type: 'NodePort',
        ports: [port('one', 80, { nodePort: 30_000 }), port('two', 81, { nodePort: 30_001 })],
      }),
      create('b', {
        type: 'NodePort',
        ports: [port('one', 80, { nodePort: 30_002 }), port('two', 81, { nodePort: 30_003 })],
      }),
      create('c', { type: 'NodePort' }),
      create('d', { type: 'NodePort', ports: [port('one', 80, { nodePort: 30_004 })] }),
      create('e', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', allocateLoadBalancerNodePorts: false }),
      create('f', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
    ],
  },
]
