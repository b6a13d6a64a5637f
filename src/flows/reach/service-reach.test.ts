// What DNS and a Service do along the path: one situation per row.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { policyWith } from '../../network-policy/network-policy.harness.ts'
import { endpointAt, serviceWith, sliceWith } from '../../proxy/routing/routing.harness.ts'
import type { Reach } from './explain-path.ts'
import { parseReachTarget } from './reach-target.ts'
import { reach } from './reach.ts'
import { a, cluster, dnsServer, readerOf, readyPod } from './reach.harness.ts'

async function explained(target: string, objects: readonly ApiObject[], source = a): Promise<Reach> {
  const parsed = parseReachTarget(target, 'default')
  if (parsed === undefined) throw new Error(`${target} is no target`)
  return reach(source, parsed, readerOf([...cluster, source, ...objects]))
}

const web2 = readyPod('default/web-2', ['10.244.1.6'], { app: 'web' }, { spec: { nodeName: 'node-b' } })
const here = endpointAt('10.244.0.5')
const there = endpointAt('10.244.1.6', {}, { nodeName: 'node-b' })
const allowed = 'Allowed: no network policy blocks the traffic.'
const resolved = 'The name web resolves to 10.96.0.20.'
const count = (chosen: number, all: string, more = '') =>
  `10.96.0.20 is the cluster IP of the Service default/web. Its port http (80/TCP) leads to ${chosen} of ${all}${more}.`
const freeEgress = 'The egress of pod default/a is restricted by no policy.'
const free = (name: string) => `The ingress of pod default/${name} is restricted by no policy.`
const noDns = 'whether the pod reaches a DNS server: there is no Service kube-system/kube-dns'
const closed = (app: string) => policyWith('default/closed', { podSelector: { matchLabels: { app } } })
const external = (spec: object) => serviceWith({ type: 'LoadBalancer', externalIPs: ['203.0.113.7'], ...spec })
const balanced = (spec: object) =>
  serviceWith(
    { type: 'LoadBalancer', ...spec },
    {},
    { loadBalancer: { ingress: [{ ip: '203.0.113.8', ipMode: 'VIP' }] } },
  )
const nodePort = (spec: object = {}) =>
  serviceWith({ type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }], ...spec })
const headless = (spec: object = {}) => serviceWith({ clusterIP: 'None', clusterIPs: ['None'], ...spec })
const onlyNode = policyWith('default/closed', {
  podSelector: { matchLabels: { app: 'web' } },
  ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.1/32' } }] }],
})

const cases: readonly (readonly [
  what: string,
  target: string,
  objects: readonly ApiObject[],
  expected: Partial<Reach>,
])[] = [
  [
    'one endpoint',
    'service/web',
    [serviceWith(), sliceWith([here])],
    {
      verdict: 'allowed',
      summary: allowed,
      sentences: [resolved, count(1, '1 endpoint'), freeEgress, free('web-1')],
      unchecked: [noDns, 'whether a program listens in pod default/web-1 (TCP 8080)'],
    },
  ],
  [
    'endpoints that are not chosen',
    'service/web:http',
    [
      serviceWith(),
      sliceWith([
        here,
        endpointAt('10.244.0.6', { ready: false }),
        endpointAt('10.244.0.7', { ready: false, serving: true, terminating: true }),
        endpointAt('10.244.0.8', { ready: false, serving: false, terminating: true }),
      ]),
    ],
    {
      sentences: [
        resolved,
        count(1, '4 endpoints'),
        'Endpoint 10.244.0.6:8080 is not chosen: it is not ready.',
        'Endpoint 10.244.0.7:8080 is not chosen: it is terminating, and others are ready.',
        'Endpoint 10.244.0.8:8080 is not chosen: it is terminating and no longer ready.',
        freeEgress,
        free('web-1'),
      ],
    },
  ],
  [
    'many endpoints that are not chosen',
    'service/web',
    [
      serviceWith(),
      sliceWith([here, ...Array.from({ length: 12 }, (_, n) => endpointAt(`10.244.7.${n}`, { ready: false }))]),
    ],
    {
      sentences: [
        resolved,
        count(1, '13 endpoints'),
        ...Array.from({ length: 10 }, (_, n) => `Endpoint 10.244.7.${n}:8080 is not chosen: it is not ready.`),
        '2 more endpoints are not chosen.',
        freeEgress,
        free('web-1'),
      ],
    },
  ],
  [
    'one of two endpoints is blocked',
    'service/web:80/tcp',
    [
      serviceWith(),
      sliceWith([here, there]),
      readyPod('default/web-2', ['10.244.1.6'], { app: 'other' }, { spec: { nodeName: 'node-b' } }),
      closed('other'),
    ],
    {
      verdict: 'partly',
      summary: 'Partly blocked by network policies: connections to 1 of 2 endpoints time out.',
      sentences: [
        resolved,
        count(2, '2 endpoints', '; each connection gets one at random'),
        freeEgress,
        free('web-1'),
        'The ingress of pod default/web-2 is blocked: the policy default/closed isolates it, and no rule allows pod default/a at TCP port 8080. default/closed has no ingress rules.',
      ],
    },
  ],
  [
    'session affinity',
    'service/web',
    [serviceWith({ sessionAffinity: 'ClientIP' }), sliceWith([here, there]), web2],
    {
      sentences: [
        resolved,
        count(2, '2 endpoints', '; a client keeps its own for 10800 s'),
        freeEgress,
        free('web-1'),
        free('web-2'),
      ],
    },
  ],
  [
    'no endpoints',
    'service/web',
    [serviceWith()],
    {
      verdict: 'unreachable',
      summary: 'Connections are refused: the Service has no ready endpoints at this port.',
      sentences: [resolved, count(0, '0 endpoints')],
    },
  ],
  [
    'the internal traffic policy Local, without an endpoint on the node',
    'service/web',
    [serviceWith({ internalTrafficPolicy: 'Local' }), sliceWith([there]), web2],
    {
      verdict: 'unreachable',
      summary:
        'Connections are dropped: the traffic policy of the Service is Local, and it has no ready endpoint on node node-a.',
      sentences: [
        resolved,
        count(0, '1 endpoint'),
        'Endpoint 10.244.1.6:8080 is not chosen: it is on another node, and the internal traffic policy is Local.',
      ],
    },
  ],
  [
    'topology hints',
    'service/web',
    [
      serviceWith(),
      sliceWith([
        endpointAt('10.244.0.5', {}, { hints: { forNodes: [{ name: 'node-a' }] } }),
        endpointAt('10.244.1.6', {}, { hints: { forNodes: [{ name: 'node-b' }] } }),
      ]),
    ],
    {
      sentences: [
        resolved,
        count(1, '2 endpoints'),
        'Endpoint 10.244.1.6:8080 is not chosen: topology hints prefer other endpoints for this node.',
        freeEgress,
        free('web-1'),
      ],
    },
  ],
  [
    'another proxy is responsible',
    'service/web',
    [serviceWith({}, { labels: { 'service.kubernetes.io/service-proxy-name': 'mine' } }), sliceWith([here])],
    {
      verdict: 'unreachable',
      summary:
        'The proxy does not route the Service: it has no address of this family, or another proxy is responsible for it.',
    },
  ],
  [
    'no address of the family of the pod',
    'service/web',
    [serviceWith({ clusterIP: 'fd00::20', clusterIPs: ['fd00::20'] })],
    { verdict: 'unreachable', summary: 'The Service default/web has no address of the families of pod default/a.' },
  ],
  [
    'a headless Service, by the number of a port',
    'service/web:80',
    [headless(), sliceWith([here, endpointAt('10.244.0.6', { ready: false })])],
    {
      verdict: 'allowed',
      sentences: [
        'The name web resolves to 10.244.0.5.',
        'The Service default/web is headless: DNS returns the addresses of its 1 ready endpoint, and clients reach these directly.',
        'Its target port has no effect: clients reach port 80 of the pods, not 8080.',
        'Endpoint 10.244.0.6:80 is not chosen: it is not ready.',
        freeEgress,
        free('web-1'),
      ],
      unchecked: [noDns, 'whether a program listens in pod default/web-1 (TCP 80)'],
    },
  ],
  [
    'a headless Service, by the name of a port',
    'service/web:http',
    [headless(), sliceWith([here])],
    { unchecked: [noDns, 'whether a program listens in pod default/web-1 (TCP 8080)'] },
  ],
  [
    'a headless Service without endpoints',
    'service/web:9',
    [headless()],
    {
      verdict: 'unreachable',
      summary: 'Its name has no addresses in DNS: the Service has no ready endpoints.',
      sentences: [
        'The name web does not exist in DNS.',
        'The Service default/web is headless: DNS returns the addresses of its 0 ready endpoints, and clients reach these directly.',
      ],
    },
  ],
  [
    'an alias of a name outside the cluster',
    'service/web',
    [
      serviceWith({
        type: 'ExternalName',
        externalName: 'pay.example.com',
        clusterIP: undefined,
        clusterIPs: undefined,
      }),
    ],
    {
      verdict: 'unknown',
      summary: 'Unknown: what policies and the network do with traffic to pay.example.com.',
      sentences: ['The name web is an alias of pay.example.com, which is outside the cluster.'],
    },
  ],
  [
    'the name in another namespace, and the DNS server on the node of the pod',
    'service/blue/web',
    [
      serviceWith({}, { namespace: 'blue' }),
      ...dnsServer('192.0.2.1'),
      policyWith('default/p', { podSelector: {}, policyTypes: ['Egress'] }),
    ],
    {
      sentences: [
        'The name web.blue resolves to 10.96.0.20. Its queries to the DNS server pass the policies.',
        count(0, '0 endpoints').replace('default', 'blue'),
      ],
    },
  ],
  [
    'policies block DNS',
    'service/web',
    [
      serviceWith(),
      sliceWith([here]),
      ...dnsServer('192.0.2.2'),
      policyWith('default/p', {
        podSelector: { matchLabels: { app: 'a' } },
        policyTypes: ['Egress'],
        egress: [{ to: [{ podSelector: {} }] }],
      }),
    ],
    {
      verdict: 'partly',
      summary: 'Allowed by address, but pod default/a cannot resolve the name: policies block its DNS queries.',
      sentences: [
        resolved,
        'Its queries to the DNS server (10.96.0.10) are blocked.',
        'The egress of pod default/a is blocked: the policy default/p isolates it, and no rule allows UDP port 53 of node node-b (192.0.2.2). Rule egress[0] of default/p is for other peers.',
        count(1, '1 endpoint'),
        'The egress of pod default/a is allowed by rule egress[0] of the policy default/p.',
        free('web-1'),
      ],
    },
  ],
  [
    'the DNS server has no endpoints',
    'service/web',
    [serviceWith(), sliceWith([here]), ...dnsServer('192.0.2.1').slice(0, 1)],
    {
      verdict: 'partly',
      summary:
        'Allowed by address, but pod default/a cannot resolve the name: the DNS server (10.96.0.10) has no endpoints.',
    },
  ],
  [
    'the cluster IP as an address: DNS is not used',
    '10.96.0.20:80',
    [serviceWith(), sliceWith([here])],
    { verdict: 'allowed', sentences: [count(1, '1 endpoint'), freeEgress, free('web-1')] },
  ],
  [
    'a port that the Service does not have',
    '10.96.0.20:81',
    [serviceWith()],
    {
      verdict: 'unreachable',
      summary:
        '10.96.0.20 is the cluster IP of the Service default/web, which has no port 81/TCP; it has http (80/TCP).',
    },
  ],
  [
    'an external IP: an endpoint on another node sees the address of the node',
    '203.0.113.7:80',
    [external({}), sliceWith([here, there]), web2, onlyNode],
    {
      verdict: 'partly',
      sentences: [
        '203.0.113.7 is the external IP of the Service default/web. Its port http (80/TCP) leads to 2 of 2 endpoints; each connection gets one at random.',
        freeEgress,
        'The ingress of pod default/web-1 is blocked: the policy default/closed isolates it, and no rule allows pod default/a at TCP port 8080. Rule ingress[0] of default/closed is for other peers.',
        'The ingress of pod default/web-2 is allowed by rule ingress[0] of the policy default/closed.',
      ],
    },
  ],
  [
    'an external IP with the policy Local: the address of the pod is kept',
    '203.0.113.7:80',
    [external({ externalTrafficPolicy: 'Local' }), sliceWith([there]), web2, onlyNode],
    { verdict: 'blocked' },
  ],
  [
    'a load balancer whose source ranges do not contain the pod',
    '203.0.113.8:80',
    [balanced({ loadBalancerSourceRanges: [' 198.51.100.0/24'] }), sliceWith([here])],
    {
      verdict: 'unreachable',
      summary:
        'Connections are dropped: the source ranges of the Service default/web (198.51.100.0/24) do not contain 10.244.0.2.',
    },
  ],
  [
    'a load balancer whose source ranges contain the pod',
    '203.0.113.8:80',
    [balanced({ loadBalancerSourceRanges: ['10.244.0.0/16'] }), sliceWith([here])],
    { verdict: 'allowed' },
  ],
  [
    'a node port of the own node',
    '192.0.2.1:30080',
    [nodePort(), sliceWith([here])],
    {
      verdict: 'allowed',
      sentences: [
        'Port 30080 of its node (192.0.2.1) is a node port of the Service default/web. Its port http (80/TCP) leads to 1 of 1 endpoint.',
        freeEgress,
        free('web-1'),
      ],
    },
  ],
  [
    'a node port of another node',
    '192.0.2.2:30080',
    [nodePort(), sliceWith([here])],
    {
      verdict: 'allowed',
      sentences: [
        'Port 30080 of node node-b is a node port of the Service default/web.',
        freeEgress,
        '192.0.2.2 is an address of node node-b, whose ingress policies do not restrict.',
      ],
      unchecked: [
        'which endpoint node node-b chooses, and whether its policies allow the traffic: --reach service/default/web:80 explains the Service',
      ],
    },
  ],
]

for (const [what, target, objects, expected] of cases)
  test(`reach a Service: ${what}`, async () => {
    const found: Partial<Record<string, unknown>> = { ...(await explained(target, objects)) }
    deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]])), expected)
  })

test('pods that do not ask the DNS server of the cluster', async () => {
  const objects = [serviceWith(), sliceWith([here]), ...dnsServer('192.0.2.2')]
  const unchecked = async (spec: object, addresses = ['10.244.0.2']) =>
    (await explained('service/web', objects, readyPod('default/a', addresses, {}, { spec }))).unchecked[0]
  match(
    (await unchecked({ dnsPolicy: 'None' })) ?? '',
    /of the dnsConfig of pod default\/a know the name \(its dnsPolicy is None\)/,
  )
  match(
    (await unchecked({ dnsPolicy: 'Default' })) ?? '',
    /does not ask those of the cluster, because its dnsPolicy is Default/,
  )
  match((await unchecked({ hostNetwork: true }, ['192.0.2.1'])) ?? '', /because it uses the network of its node/)
  equal(
    await unchecked({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, ['192.0.2.1']),
    'whether a program listens in pod default/web-1 (TCP 8080)',
  )
})

test('both families: an IPv6 endpoint may be blocked while the IPv4 one is not', async () => {
  const dual = readyPod('default/a', ['10.244.0.2', 'fd01::2'], {})
  const objects = [
    serviceWith({ clusterIPs: ['10.96.0.20', 'fd00::20'] }),
    sliceWith([here]),
    {
      ...sliceWith([endpointAt('fd01::5')], { addressType: 'IPv6' }),
      metadata: { ...sliceWith([]).metadata, name: 'web-6' },
    },
    readyPod('default/web-1', ['10.244.0.5', 'fd01::5'], { app: 'web' }),
    policyWith('default/p', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    }),
  ]
  const { verdict, summary } = await explained('service/web', objects, dual)
  deepEqual(
    [verdict, summary],
    ['partly', 'Partly blocked by network policies: connections to 1 of 2 endpoints time out.'],
  )
})
