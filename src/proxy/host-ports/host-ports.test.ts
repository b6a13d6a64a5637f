import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { podWith, portWithHostPort, type PodWith } from './host-ports.harness.ts'
import { hostPortsOf } from './host-ports.ts'

const both = ['10.244.0.2', 'fd01::a:2']
const rows: readonly (readonly [string, PodWith, readonly string[]])[] = [
  ['a port without a host port', { ports: [{ containerPort: 80, protocol: 'TCP' }] }, []],
  [
    'one of each family',
    { ports: [portWithHostPort(80)], addresses: both },
    ['tcp *:80 10.244.0.2', 'tcp *:80 fd01::a:2'],
  ],
  [
    '0.0.0.0 is IPv4 only',
    { ports: [portWithHostPort(80, { hostIP: '0.0.0.0' })], addresses: both },
    ['tcp *:80 10.244.0.2'],
  ],
  [':: is IPv6 only', { ports: [portWithHostPort(80, { hostIP: '::' })], addresses: both }, ['tcp *:80 fd01::a:2']],
  [
    'one address of the node',
    { ports: [portWithHostPort(53, { hostIP: '192.168.50.1', protocol: 'UDP' })], addresses: both },
    ['udp 192.168.50.1:53 10.244.0.2'],
  ],
  [
    'an init container',
    { spec: { initContainers: [{ name: 'first', ports: [portWithHostPort(81)] }] }, ports: [portWithHostPort(80)] },
    ['tcp *:81 10.244.0.2', 'tcp *:80 10.244.0.2'],
  ],
  ['a pod without an address', { ports: [portWithHostPort(80)], addresses: [] }, []],
  ['a pod in the network of the host', { ports: [portWithHostPort(80)], spec: { hostNetwork: true } }, []],
  ['a pod that has ended', { ports: [portWithHostPort(80)], phase: 'Succeeded' }, []],
  ['a pod that has failed', { ports: [portWithHostPort(80)], phase: 'Failed' }, []],
]

for (const [name, pod, expected] of rows)
  test(`host ports: ${name}`, () =>
    deepEqual(
      hostPortsOf(podWith(pod)).ports.map(
        ({ protocol, hostIp, hostPort, target }) => `${protocol} ${hostIp ?? '*'}:${hostPort} ${target.address}`,
      ),
      expected,
    ))

const hostile: readonly [name: string, hostIP: string][] = [
  ['a name', 'not-an-address'],
  ['a newline', '10.0.0.1\nflush ruleset'],
  ['a semicolon', '10.0.0.1; flush ruleset'],
  ['braces', '10.0.0.1 } ; flush ruleset ; {'],
  ['a zone', 'fe80::1%eth0'],
  ['leading zeros', '010.0.0.1'],
  ['NUL', '10.0.0.1\0'],
  ['a very long text', '1'.repeat(100_000)],
  ['IPv4 in IPv6 notation', '::ffff:10.0.0.1'],
]

for (const [name, hostIP] of hostile)
  test(`a host IP that is not valid costs its own port: ${name}`, () => {
    const { ports, problems } = hostPortsOf(
      podWith({ ports: [portWithHostPort(80, { hostIP }), portWithHostPort(81)] }),
    )
    deepEqual(
      ports.map(({ hostPort }) => hostPort),
      [81],
    )
    deepEqual(
      problems.map(({ reason }) => reason),
      ['InvalidHostIP'],
    )
    match(problems[0]?.message ?? '', /^host port 80 is not mapped: the host IP ".{1,80}" is not an IP address$/)
  })

test('an address of a pod that is not valid, and ports beyond the limit, are left out', () => {
  const addresses = ['10.244.0.2 : drop', '10.244.0.3']
  const { ports } = hostPortsOf(
    podWith({ addresses, ports: Array.from({ length: 2_000 }, (_, at) => portWithHostPort(at + 1)) }),
  )
  equal(ports.length, 1_000)
  deepEqual(new Set(ports.map(({ target }) => target.address)), new Set(['10.244.0.3']))
})
