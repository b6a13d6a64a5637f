import { deepEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { event } from '../../api/core/v1/event.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { soloNode } from '../solo.harness.ts'
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'
import { dnsOf, parseResolvConf } from './dns.ts'

const cluster = {
  servers: ['10.96.0.10'],
  domain: 'cluster.local',
  node: parseResolvConf('nameserver 1.1.1.1\nsearch lan cluster.local\noptions timeout:2') as DnsConfig | undefined,
  nodeAddress: '192.0.2.1',
}

const podWith = (spec: Partial<Pod['spec']>): Pod =>
  ({ metadata: { name: 'p', namespace: 'team' }, spec: { dnsPolicy: 'ClusterFirst', ...spec } }) as unknown as Pod

/** As the lines of a resolv.conf. */
const linesOf = ({ config: { servers, searches, options } }: ReturnType<typeof dnsOf>): string[] => [
  ...servers.map((server) => `nameserver ${server}`),
  `search ${searches.join(' ')}`,
  `options ${options.join(' ')}`,
]

const inCluster = [
  'nameserver 10.96.0.10',
  'search team.svc.cluster.local svc.cluster.local cluster.local lan',
  'options ndots:5',
]
const onNode = ['nameserver 1.1.1.1', 'search lan cluster.local', 'options timeout:2']

const policies: readonly [string, Partial<Pod['spec']>, readonly string[], Partial<typeof cluster>?][] = [
  ['ClusterFirst', {}, inCluster],
  ['ClusterFirst on the host network', { hostNetwork: true }, onNode],
  ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, inCluster],
  ['ClusterFirstWithHostNet on a pod network', { dnsPolicy: 'ClusterFirstWithHostNet' }, inCluster],
  ['ClusterFirst in a cluster without DNS', {}, onNode, { servers: [] }],
  [
    'ClusterFirst in a cluster without a domain',
    {},
    ['nameserver 10.96.0.10', 'search lan cluster.local', 'options ndots:5'],
    { domain: '' },
  ],
  ['Default', { dnsPolicy: 'Default' }, onNode],
  [
    'Default without a resolv.conf of the node',
    { dnsPolicy: 'Default' },
    ['nameserver 127.0.0.1', 'search .', 'options '],
    { node: undefined },
  ],
  [
    'Default without a resolv.conf of a node with IPv6',
    { dnsPolicy: 'Default' },
    ['nameserver ::1', 'search .', 'options '],
    { node: undefined, nodeAddress: '2001:db8::1' },
  ],
  [
    'ClusterFirst without a resolv.conf of the node',
    {},
    ['nameserver 10.96.0.10', 'search team.svc.cluster.local svc.cluster.local cluster.local', 'options ndots:5'],
    { node: undefined },
  ],
  [
    'None',
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['9.9.9.9'] } },
    ['nameserver 9.9.9.9', 'search ', 'options '],
  ],
  [
    'ClusterFirst with a dnsConfig, whose entries are added',
    {
      dnsConfig: {
        nameservers: ['9.9.9.9', '10.96.0.10'],
        searches: ['own', 'lan'],
        options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }, { name: 'rotate', value: '' }],
      },
    },
    [
      ...['nameserver 10.96.0.10', 'nameserver 9.9.9.9'],
      ...['search team.svc.cluster.local svc.cluster.local cluster.local lan own', 'options ndots:2 edns0 rotate'],
    ],
  ],
  [
    'Default with a dnsConfig',
    { dnsPolicy: 'Default', dnsConfig: { searches: ['own'], options: [{ name: 'timeout', value: '5' }] } },
    ['nameserver 1.1.1.1', 'search lan cluster.local own', 'options timeout:5'],
  ],
]

describe('the DNS policy', () => {
  for (const [name, spec, expected, changes] of policies)
    test(name, () => deepEqual(linesOf(dnsOf(podWith(spec), { ...cluster, ...changes })), expected))
})

const numbered = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index))
const searchWarning =
  'Search Line limits were exceeded, some search paths have been omitted, the applied search line is: '
const serverWarning =
  'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: '
const long = numbered(9, (index) => `${index}${'x'.repeat(249)}`)

const limits: readonly [string, NonNullable<Pod['spec']['dnsConfig']>, string[], string[], string[]][] = [
  ['three nameservers', { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] }, ['1.1.1.1', '2.2.2.2', '3.3.3.3'], [], []],
  [
    'a fourth nameserver is left out',
    { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'] },
    ['1.1.1.1', '2.2.2.2', '3.3.3.3'],
    [],
    [`${serverWarning}1.1.1.1 2.2.2.2 3.3.3.3`],
  ],
  ['32 search paths', { searches: numbered(32, (index) => `s${index}`) }, [], numbered(32, (index) => `s${index}`), []],
  [
    'a 33rd search path is left out',
    { searches: numbered(33, (index) => `s${index}`) },
    [],
    numbered(32, (index) => `s${index}`),
    [searchWarning + numbered(32, (index) => `s${index}`).join(' ')],
  ],
  [
    'a search path that is too long is left out',
    { searches: ['a', 'x'.repeat(254), 'b'] },
    [],
    ['a', 'b'],
    [`${searchWarning}a b`],
  ],
  [
    'search paths beyond 2048 characters are left out',
    { searches: long },
    [],
    long.slice(0, 8),
    [searchWarning + long.slice(0, 8).join(' ')],
  ],
  // Eight paths with spaces have 2,007 characters, so 40 more and a space fit exactly.
  [
    'exactly 2048 characters fit',
    { searches: [...long.slice(0, 8), 'y'.repeat(40)] },
    [],
    [...long.slice(0, 8), 'y'.repeat(40)],
    [],
  ],
]

describe('the limits of resolvers', () => {
  for (const [name, dnsConfig, servers, searches, warnings] of limits)
    test(name, () => {
      const found = dnsOf(podWith({ dnsPolicy: 'None', dnsConfig }), cluster)
      deepEqual([found.config.servers, found.config.searches, found.warnings], [servers, searches, warnings])
    })
})

const files: readonly [string, string, object][] = [
  ['the last search line counts', 'search a\nsearch b c\n', { servers: [], searches: ['b', 'c'], options: [] }],
  [
    'the last options line counts',
    'options a\noptions ndots:2 b',
    { servers: [], searches: [], options: ['ndots:2', 'b'] },
  ],
  [
    'comments and spaces',
    '# nameserver 9.9.9.9\n\t nameserver  1.1.1.1  \n',
    { servers: ['1.1.1.1'], searches: [], options: [] },
  ],
  ['a dot at the end of a domain', 'search a. b .', { servers: [], searches: ['a', 'b', '.'], options: [] }],
  ['a nameserver line without an address', 'nameserver\n', { servers: [], searches: [], options: [] }],
]

describe('a resolv.conf', () => {
  for (const [name, text, expected] of files) test(name, () => deepEqual(parseResolvConf(text), expected))
})

test('an omitted nameserver is reported as an event of the pod', async () => {
  const started = await startCluster({ nodes: 0 })
  const { client, clock } = started
  const ctx = context(new AbortController().signal)
  const tasks = soloNode(started, {
    dns: { ...cluster, servers: ['10.96.0.1', '10.96.0.2', '10.96.0.3', '10.96.0.4'] },
  }).start()
  await clock.advance('5s')
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await clock.advance('5s')
  const { items } = await client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)
  deepEqual(
    items.filter(({ type }) => type === 'Warning').map(({ reason, message }) => [reason, message]),
    [['DNSConfigForming', `${serverWarning}10.96.0.1 10.96.0.2 10.96.0.3`]],
  )
  await tasks[Symbol.asyncDispose]()
  await started.stop()
})
