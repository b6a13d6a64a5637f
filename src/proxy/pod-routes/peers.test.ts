import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import { mustParseCidr, parseCidrs } from '../../base/net/cidr.ts'
import { nodeWith } from '../routing/routing.harness.ts'
import { peersOf, type OwnNetwork } from './peers.ts'

const own: OwnNetwork = {
  nodeName: 'here',
  podRanges: parseCidrs(['10.244.0.0/24', 'fd00:244::/64']),
  serviceRanges: parseCidrs(['10.96.0.0/12', 'fd00:96::/108']),
  clusterRanges: [],
  interfaceRanges: () => parseCidrs(['192.0.2.1/24', '127.0.0.1/8', 'fe80::1/64']),
}

interface NodeAt {
  readonly name?: string
  readonly ranges?: readonly string[]
  readonly addresses?: readonly string[]
  readonly created?: string
}

const nodeAt = ({
  name = 'there',
  ranges = ['10.244.1.0/24'],
  addresses = ['192.0.2.2'],
  created = '',
}: NodeAt): Node =>
  ({
    ...nodeWith(name),
    metadata: { ...nodeWith(name).metadata, creationTimestamp: created },
    spec: { podCIDRs: ranges },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  }) as unknown as Node

/** The names of the peers, and the problems. */
function found(nodes: readonly NodeAt[], more: Partial<OwnNetwork> = {}) {
  const { peers, problems } = peersOf(nodes.map(nodeAt), { ...own, ...more })
  return { names: peers.map(({ name }) => name), problems: Array.from(problems.values(), ({ message }) => message) }
}

const ranges: readonly [name: string, ranges: readonly string[], problem: RegExp | undefined][] = [
  ['one range', ['10.244.1.0/24'], undefined],
  ['one of each family', ['10.244.1.0/24', 'fd00:244:0:1::/64'], undefined],
  ['all addresses', ['0.0.0.0/0'], /overlaps/],
  ['all IPv6 addresses', ['::/0'], /overlaps/],
  ['half of all addresses', ['128.0.0.0/1'], /overlaps/],
  ['the Service range', ['10.96.0.0/12'], /overlaps the addresses of Services \(10\.96\.0\.0\/12\)/],
  ['a part of the Service range', ['10.96.0.0/24'], /overlaps the addresses of Services/],
  [
    'the IPv6 Service range after a good range',
    ['10.244.1.0/24', 'fd00:96::/112'],
    /overlaps the addresses of Services/,
  ],
  ['the range of this node', ['10.244.0.0/24'], /overlaps the pods of this node/],
  ['a part of the range of this node', ['10.244.0.128/25'], /overlaps the pods of this node/],
  ['the range of this node and others', ['10.244.0.0/16'], /overlaps the pods of this node/],
  ['an address of the network of this machine', ['192.0.2.254/32'], /overlaps a network of this machine/],
  ['loopback', ['127.0.0.0/8'], /overlaps/],
  ['multicast', ['224.0.0.0/4'], /overlaps special addresses/],
  ['link-local', ['fe80::/64'], /overlaps/],
  ['metadata services of clouds', ['169.254.169.254/32'], /overlaps special addresses/],
  ['leading zeros', ['10.244.1.0/024'], /is not a CIDR/],
  ['a newline', ['10.244.1.0/24\nroute flush table main'], /is not a CIDR/],
  ['two of one family', ['10.244.1.0/24', '10.245.1.0/24'], /one range of each family/],
  ['one range twice', ['10.244.1.0/24', '10.244.1.0/24'], /one range of each family/],
  ['a very long text', ['1'.repeat(100_000)], /^.{1,120}$/],
]

for (const [name, texts, problem] of ranges)
  test(`pod ranges of a Node: ${name}`, () => {
    const { names, problems } = found([{ ranges: texts }, { name: 'other', ranges: ['10.246.0.0/24'] }])
    deepEqual(names, problem === undefined ? ['other', 'there'] : ['other'])
    equal(problems.length, problem === undefined ? 0 : 1)
    if (problem !== undefined) match(problems[0] ?? '', problem)
  })

test('of two nodes with addresses in common the older one has its path, whatever their names', () => {
  const older: NodeAt = { name: 'z', created: '2026-01-01T00:00:00Z', ranges: ['10.244.7.0/24'] }
  for (const range of ['10.244.7.0/24', '10.244.7.128/25', '10.244.0.0/21'])
    deepEqual(found([{ name: 'a', created: '2026-01-02T00:00:00Z', ranges: [range] }, older], { podRanges: [] }), {
      names: ['z'],
      problems: [`the pod range "${range}" is ignored: it overlaps a range of the older node z`],
    })
})

test('where the pod ranges of the cluster are known, a range is a part of them', () => {
  const clusterRanges = [mustParseCidr('10.244.0.0/16')]
  const inside: NodeAt = { name: 'a', ranges: ['10.244.1.0/24'] }
  deepEqual(found([inside, { name: 'b', ranges: ['198.51.100.0/24'] }], { clusterRanges }), {
    names: ['a'],
    problems: [
      'the pod range "198.51.100.0/24" is ignored: it is not one of the pod ranges of the cluster (10.244.0.0/16)',
    ],
  })
})

test('no two nodes have one address of the VXLAN device', () => {
  const nodes = ['fd00:1::/64', 'fd01:1::/64'].map((range, index) => ({ name: `n${index}`, ranges: [range] }))
  const { names, problems } = found(nodes)
  deepEqual(names, ['n0'])
  match(problems[0] ?? '', /^the pod range fd01:1::\/64 is ignored: .* of the node n0$/)
  const own64 = { podRanges: parseCidrs(['fd00:244::/64']) }
  equal(found([{ ranges: ['fd01:244::/64'] }], own64).names.length, 0)
})

const addresses: readonly [name: string, addresses: readonly string[], used: readonly string[], problems: number][] = [
  ['both families', ['192.0.2.2', '2001:db8::2'], ['192.0.2.2', '2001:db8::2'], 0],
  ['another spelling', ['2001:0DB8::0002'], ['2001:db8::2'], 0],
  ['a newline', ['192.0.2.2\nnetns exec a sh'], [], 1],
  ['a bad one before a good one', ['x', '192.0.2.2'], ['192.0.2.2'], 1],
  ['an option', ['-h'], [], 1],
  ['IPv4 in IPv6 notation', ['::ffff:192.0.2.2'], [], 1],
  ['loopback', ['127.0.0.1', '::1'], [], 0],
  ['no address of a machine', ['0.0.0.0'], [], 1],
  ['multicast', ['224.0.0.1'], [], 1],
  ['none', [], [], 0],
  [
    'many',
    Array.from({ length: 10_000 }, (_, index) => `192.0.2.${index % 200}`),
    Array.from({ length: 16 }, (_, index) => `192.0.2.${index}`),
    0,
  ],
]

for (const [name, texts, used, problemCount] of addresses)
  test(`addresses of a Node: ${name}`, () => {
    const { peers, problems } = peersOf([nodeAt({ addresses: texts })], own)
    deepEqual(
      peers.flatMap((peer) => peer.addresses),
      used,
    )
    equal(problems.size, problemCount)
  })
