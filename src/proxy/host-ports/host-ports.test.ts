import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { podWith, portOf, type PodWith } from './host-ports.harness.ts'
import { hostPortsOf } from './host-ports.ts'

const both = ['10.244.0.2', 'fd01::a:2']
const rows: readonly (readonly [string, PodWith, readonly string[]])[] = [
  ['a port without a host port', { ports: [{ containerPort: 80, protocol: 'TCP' }] }, []],
  ['one of each family', { ports: [portOf(80)], addresses: both }, ['tcp *:80 10.244.0.2', 'tcp *:80 fd01::a:2']],
  ['0.0.0.0 is IPv4 only', { ports: [portOf(80, { hostIP: '0.0.0.0' })], addresses: both }, ['tcp *:80 10.244.0.2']],
  [':: is IPv6 only', { ports: [portOf(80, { hostIP: '::' })], addresses: both }, ['tcp *:80 fd01::a:2']],
  [
    'one address of the node',
    { ports: [portOf(53, { hostIP: '192.168.50.1', protocol: 'UDP' })], addresses: both },
    ['udp 192.168.50.1:53 10.244.0.2'],
  ],
  [
    'an init container',
    { spec: { initContainers: [{ name: 'first', ports: [portOf(81)] }] }, ports: [portOf(80)] },
    ['tcp *:81 10.244.0.2', 'tcp *:80 10.244.0.2'],
  ],
  ['a pod without an address', { ports: [portOf(80)], addresses: [] }, []],
  ['a pod in the network of the host', { ports: [portOf(80)], spec: { hostNetwork: true } }, []],
  ['a pod that has ended', { ports: [portOf(80)], phase: 'Succeeded' }, []],
  ['a pod that has failed', { ports: [portOf(80)], phase: 'Failed' }, []],
]

for (const [name, pod, expected] of rows)
  test(`host ports: ${name}`, () =>
    deepEqual(
      hostPortsOf(podWith(pod)).map(
        ({ protocol, hostIp, hostPort, target }) => `${protocol} ${hostIp ?? '*'}:${hostPort} ${target.address}`,
      ),
      expected,
    ))
