import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr } from '../../base/net/cidr.ts'
import {
  bridge,
  isOtherNetwork,
  lockMachine,
  machineNetworks,
  nodeAddressOf,
  outsideAddresses,
  parseIpv6Routes,
  parseRoutes,
  rangeConflict,
  removeBridge,
} from './machine-network.ts'

const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
vpn0	0000F40A	00000000	0001	0	0	0	0000FFFF	0	0	0
`

test('routes are parsed in the format of the kernel, without the default route', () =>
  deepEqual(parseRoutes(table), [
    { device: 'eth0', cidr: '192.0.2.0/24' },
    { device: 'vpn0', cidr: '10.244.0.0/16' },
  ]))

const ipv6Table = `20010db8000000010000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0
`

test('routes of IPv6 are parsed in the format of the kernel, without the default route', () =>
  deepEqual(parseIpv6Routes(ipv6Table), [{ device: 'eth0', cidr: '2001:db8:0:1::/64' }]))

const ranges = { podRanges: [mustParseCidr('10.244.0.0/24')], serviceRanges: [mustParseCidr('10.96.0.0/12')] }
for (const [what, networks, expected] of [
  [
    'a network in the range of Services',
    [{ device: 'eth0', cidr: mustParseCidr('10.99.0.1/24') }],
    'the addresses of Services, 10.96.0.0/12, overlap those of eth0 (10.99.0.0/24); start the cluster with others: --service-cluster-ip-range 172.20.0.0/16',
  ],
  [
    'a network that contains all ranges of pods',
    [...parseRoutes(table), { device: 'eth1', cidr: mustParseCidr('172.16.0.0/12') }],
    'the addresses of pods, 10.244.0.0/24, overlap those of vpn0 (10.244.0.0/16); start the cluster with others: --cluster-cidr 192.168.192.0/18',
  ],
  ['neither', [{ device: 'eth0', cidr: mustParseCidr('192.0.2.7/24') }], undefined],
] as const)
  test(`addresses of pods and Services on a machine with ${what}`, () =>
    equal(rangeConflict(ranges, networks), expected))

test('ranges of IPv6 are compared too, and another one is not proposed', () => {
  const ipv6 = { podRanges: [], serviceRanges: ['2001:db8::/112', '2001:db8:0:1::/112'].map(mustParseCidr) }
  equal(
    rangeConflict(ipv6, parseIpv6Routes(ipv6Table)),
    'the addresses of Services, 2001:db8:0:1::/112, overlap those of eth0 (2001:db8:0:1::/64); start the cluster with others: --service-cluster-ip-range',
  )
})

const others: [device: string, cidr: string, isOther: boolean][] = [
  ['eth0', '192.0.2.0/24', true],
  ['eth0', 'fd00::/64', true],
  ['eth0', 'fec0::/64', true],
  ['eth0', 'fe80::/64', false],
  ['eth0', 'febf::/64', false],
  ['eth0', '169.254.0.0/16', false],
  ['eth0', 'ff00::/8', false],
  ['eth0', '224.0.0.0/4', false],
  [bridge, '10.244.0.0/24', false],
]
for (const [device, cidr, isOther] of others)
  test(`addresses of the cluster ${isOther ? 'must not' : 'may'} overlap ${cidr} of ${device}`, () =>
    equal(isOtherNetwork({ device, cidr: mustParseCidr(cidr) }), isOther))

test('the networks of this machine are without its bridge', () =>
  equal(
    machineNetworks().every(({ device, cidr }) => device !== bridge && cidr.includes('/')),
    true,
  ))

test('only one process runs containers on a machine at a time', async () => {
  const taken = await lockMachine().catch(() => undefined)
  await rejects(lockMachine(), /another coxswain runs containers on this machine/)
  await taken?.[Symbol.asyncDispose]()
})

const links: [why: string, shown: { code: number; stdout: string }, ran: number][] = [
  ['it does not exist', { code: 1, stdout: '' }, 1],
  ['a pod is connected to it', { code: 0, stdout: '7: veth1@if2: …\n' }, 1],
  ['no pod is connected to it', { code: 0, stdout: '' }, 2],
]
for (const [why, shown, count] of links)
  test(`the bridge: ${why}`, async () => {
    const ran: string[] = []
    const run = (command: string, args: readonly string[]) => {
      ran.push(`${command} ${args.join(' ')}`)
      return Promise.resolve({ ...shown, stderr: '' })
    }
    await removeBridge({ run }, new AbortController().signal)
    equal(ran.length, count)
    if (count === 2) equal(ran[1], 'ip link delete coxswain0')
  })

test('addresses for other machines are not those of loopback, links and own devices', () => {
  const at = (cidr: string, isInternal = false) => {
    const [address = ''] = cidr.split('/')
    return { address, cidr, internal: isInternal, family: 'IPv4' as const, netmask: '', mac: '' }
  }
  deepEqual(
    outsideAddresses({
      lo: [at('127.0.0.1/8', true)],
      eth0: [at('192.0.2.2/24'), at('fe80::1/64'), at('2001:db8::2/64')],
      [bridge]: [at('10.244.0.1/24')],
      ppp0: [{ ...at('198.51.100.7/32'), cidr: null }],
    }),
    ['192.0.2.2', '2001:db8::2', '198.51.100.7'],
  )
})

const nodeRows: [host: string, outside: readonly string[], address: string][] = [
  ['192.0.2.9', ['192.0.2.2'], '192.0.2.9'],
  ['127.0.0.1', ['192.0.2.2'], '127.0.0.1'],
  ['0.0.0.0', ['2001:db8::2', '192.0.2.2', '192.0.2.3'], '192.0.2.2'],
  ['0.0.0.0', ['2001:db8::2'], '127.0.0.1'],
  ['::', ['2001:db8::2', '192.0.2.2'], '2001:db8::2'],
  ['::', ['192.0.2.2'], '192.0.2.2'],
  ['::', [], '::1'],
]
for (const [host, outside, address] of nodeRows)
  test(`a server at ${host} on a machine with ${outside.join(', ')} has a node at ${address}`, () =>
    equal(nodeAddressOf(host, outside), address))
