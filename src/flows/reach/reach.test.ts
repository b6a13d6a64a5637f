// Whether a pod reaches a target: one situation per row, with the whole explanation.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { policyWith } from '../../network-policy/network-policy.harness.ts'
import { serviceWith } from '../../proxy/routing/routing.harness.ts'
import type { Reach } from './explain-path.ts'
import { parseReachTarget } from './reach-target.ts'
import { reach, reachText } from './reach.ts'
import { a, cluster, readerOf, readyNode, readyPod } from './reach.harness.ts'

async function explained(target: string, objects: readonly ApiObject[], source = a): Promise<Reach> {
  const parsed = parseReachTarget(target, 'default')
  if (parsed === undefined) throw new Error(`${target} is no target`)
  return reach(source, parsed, readerOf([...cluster, source, ...objects]))
}

const dropped = 'Blocked by network policies: packets are dropped, so connections time out.'
const allowed = 'Allowed: no network policy blocks the traffic.'
const freeEgress = 'The egress of pod default/a is restricted by no policy.'
const freeIngress = 'The ingress of pod blue/b is restricted by no policy.'
const denied = (path: string, policyTypes: string[], more: object = {}) =>
  policyWith(path, { podSelector: {}, policyTypes, ...more })
const fromDefault = { from: [{ namespaceSelector: { matchLabels: { ns: 'default' } } }] }
const listens = 'whether a program listens in pod blue/b (TCP 80)'
const between = 'whether packets pass between the nodes node-a and node-b'
const enforced = (policy: string, home: string, nodes = 'the nodes node-a and node-b enforce') =>
  `whether ${nodes} policies: the pod network of ${nodes.includes(' and ') ? 'node-a and node-b' : 'node-a'} is not that of Coxswain, so its CNI plugin has to; otherwise coxswain flow networkpolicy/${policy} -n ${home} shows which nodes have applied it`

const cases: readonly (readonly [
  what: string,
  target: string,
  objects: readonly ApiObject[],
  expected: Partial<Reach>,
])[] = [
  [
    'no policies',
    'pod/blue/b:80',
    [],
    { verdict: 'allowed', summary: allowed, sentences: [freeEgress, freeIngress], unchecked: [listens, between] },
  ],
  [
    'no port is named, and the pod declares one',
    'pod/blue/b',
    [],
    { verdict: 'allowed', unchecked: [listens.replace('80', '8080'), between] },
  ],
  [
    'the egress is blocked by a policy without rules',
    'pod/blue/b:80',
    [denied('default/closed', ['Egress'])],
    {
      verdict: 'blocked',
      summary: dropped,
      sentences: [
        'The egress of pod default/a is blocked: the policy default/closed isolates it, and no rule allows TCP port 80 of pod blue/b. default/closed has no egress rules.',
        freeIngress,
      ],
      unchecked: [between, enforced('closed', 'default')],
      hops: [
        {
          pod: 'blue/b',
          address: '10.244.1.3',
          port: 80,
          protocol: 'TCP',
          egress: { isBlocked: true, policies: ['default/closed'] },
          ingress: { isBlocked: false, policies: [] },
        },
      ],
    },
  ],
  [
    'the ingress is blocked by rules for others',
    'pod/blue/b:80',
    [
      denied('blue/ports', ['Ingress'], { ingress: [{ ports: [{ port: 443 }] }] }),
      denied('blue/peers', ['Ingress'], {
        ingress: [{ from: [{ podSelector: {} }] }, { from: [{ podSelector: {} }], ports: [{ port: 1 }] }],
      }),
    ],
    {
      verdict: 'blocked',
      sentences: [
        freeEgress,
        'The ingress of pod blue/b is blocked: the policies blue/peers and blue/ports isolate it, and no rule allows pod default/a at TCP port 80. Rule ingress[0] of blue/peers is for other peers. Rule ingress[1] of blue/peers is for other peers and other ports. Rule ingress[0] of blue/ports is for other ports.',
      ],
    },
  ],
  [
    'many rules',
    'pod/blue/b:80',
    [denied('blue/p', ['Ingress'], { ingress: Array.from({ length: 7 }, () => ({ ports: [{ port: 443 }] })) })],
    {
      sentences: [
        freeEgress,
        `The ingress of pod blue/b is blocked: the policy blue/p isolates it, and no rule allows pod default/a at TCP port 80. ${[0, 1, 2, 3, 4].map((rule) => `Rule ingress[${rule}] of blue/p is for other ports.`).join(' ')} 2 more rules do not match.`,
      ],
    },
  ],
  [
    'both sides are allowed by rules',
    'pod/blue/b:80',
    [
      denied('default/open', ['Egress'], { egress: [{}] }),
      denied('blue/open', ['Ingress'], { ingress: [fromDefault] }),
    ],
    {
      verdict: 'allowed',
      sentences: [
        'The egress of pod default/a is allowed by rule egress[0] of the policy default/open.',
        'The ingress of pod blue/b is allowed by rule ingress[0] of the policy blue/open.',
      ],
    },
  ],
  [
    'the pod itself',
    'pod/a:80',
    [denied('default/closed', ['Ingress', 'Egress'])],
    { verdict: 'allowed', sentences: ['A pod always reaches itself, whatever its policies are.'] },
  ],
  [
    'a pod that is not ready, and at whose port a probe was refused',
    'pod/blue/b:80',
    [
      readyPod(
        'blue/b',
        ['10.244.1.3'],
        {},
        {
          spec: { nodeName: 'node-b' },
          status: {
            containerStatuses: [
              { name: 'c', ready: false, restartCount: 0, state: { running: { startedAt: 'noon' } } },
            ],
          },
        },
      ),
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e', namespace: 'blue' },
        involvedObject: { uid: 'blue/b' },
        reason: 'Unhealthy',
        message: 'Get "http://x": dial tcp 10.244.1.3:80: connect: connection refused',
      } as unknown as ApiObject,
    ],
    {
      verdict: 'allowed',
      sentences: [
        'Pod blue/b: Container c has been running since noon, but its readiness probe has not succeeded.',
        'Nothing listens on port 80 of pod b: a probe was refused.',
        freeEgress,
        freeIngress,
      ],
    },
  ],
  [
    'a pod without an address',
    'pod/blue/b:80',
    [readyPod('blue/b', [], {}, { spec: { nodeName: 'node-b' } })],
    { verdict: 'unreachable', summary: 'Pod blue/b has no address yet.' },
  ],
  [
    'a pod of the other family',
    'pod/blue/b:80',
    [readyPod('blue/b', ['fd01::3'], {}, { spec: { nodeName: 'node-b' } })],
    { verdict: 'unreachable', summary: 'Pod blue/b has no address of the families of pod default/a.' },
  ],
  [
    'a pod that has ended',
    'pod/blue/b:80',
    [readyPod('blue/b', ['10.244.1.3'], {}, { status: { phase: 'Failed' } })],
    { verdict: 'unreachable', summary: 'Pod blue/b has ended.', sentences: [] },
  ],
  [
    'a pod on the network of its node',
    'pod/blue/b:80',
    [
      readyPod('blue/b', ['192.0.2.2'], {}, { spec: { nodeName: 'node-b', hostNetwork: true } }),
      denied('blue/closed', ['Ingress']),
    ],
    {
      verdict: 'allowed',
      sentences: [freeEgress, '192.0.2.2 is an address of node node-b, whose ingress policies do not restrict.'],
      unchecked: [],
    },
  ],
  [
    'an address outside the cluster',
    '198.51.100.7:443',
    [denied('default/web', ['Egress'], { egress: [{ to: [{ ipBlock: { cidr: '198.51.100.0/24' } }] }] })],
    {
      verdict: 'allowed',
      sentences: [
        'The egress of pod default/a is allowed by rule egress[0] of the policy default/web.',
        '198.51.100.7 is not the address of a pod, so no policy restricts ingress there.',
      ],
      unchecked: [
        'what is at 198.51.100.7:443: no Service, pod or node has the address',
        enforced('web', 'default', 'node node-a enforces'),
      ],
    },
  ],
  [
    'the own node',
    '192.0.2.1:9100',
    [denied('default/closed', ['Egress'])],
    {
      verdict: 'allowed',
      sentences: [
        'A pod and its own node always reach one another, whatever the policies are.',
        '192.0.2.1 is an address of node node-a, whose ingress policies do not restrict.',
      ],
    },
  ],
  [
    'another node',
    '192.0.2.2:9100',
    [denied('default/closed', ['Egress'])],
    {
      verdict: 'blocked',
      sentences: [
        'The egress of pod default/a is blocked: the policy default/closed isolates it, and no rule allows TCP port 9100 of node node-b (192.0.2.2). default/closed has no egress rules.',
        '192.0.2.2 is an address of node node-b, whose ingress policies do not restrict.',
      ],
    },
  ],
  ['the address of a pod', '10.244.1.3:80', [], { verdict: 'allowed', sentences: [freeEgress, freeIngress] }],
  [
    'an address of the other family',
    '[fd00::1]:80',
    [],
    { verdict: 'unreachable', summary: 'Pod default/a has no IPv6 address.' },
  ],
]

for (const [what, target, objects, expected] of cases)
  test(`reach: ${what}`, async () => {
    const found: Partial<Record<string, unknown>> = { ...(await explained(target, objects)) }
    deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]])), expected)
  })

test('a pod that cannot open connections', async () => {
  const ended = readyPod('default/a', ['10.244.0.2'], {}, { status: { phase: 'Succeeded' } })
  equal((await explained('pod/blue/b:80', [], ended)).summary, 'Pod default/a has ended.')
  const starting = readyPod('default/a', [], {}, { status: { containerStatuses: [] } })
  const { verdict, summary, sentences } = await explained('pod/blue/b:80', [], starting)
  deepEqual([verdict, summary], ['unreachable', 'Pod default/a has no address yet.'])
  match(sentences.join(), /the kubelet has not reported its containers yet/)
})

test('a pod on the network of its node counts as the node', async () => {
  const host = readyPod('default/a', ['192.0.2.1'], {}, { spec: { hostNetwork: true } })
  const closed = denied('blue/closed', ['Ingress'])
  const { verdict, sentences } = await explained('pod/blue/b:80', [closed, denied('default/closed', ['Egress'])], host)
  equal(verdict, 'blocked')
  deepEqual(sentences, [
    'Pod default/a uses the network of its node node-a: policies do not select it, and for others it is that node.',
    'The ingress of pod blue/b is blocked: the policy blue/closed isolates it, and no rule allows node node-a (192.0.2.1) at TCP port 80. blue/closed has no ingress rules.',
  ])
})

test('nodes whose pods Coxswain connects are not said to have another network', async () => {
  const ours = { metadata: { name: 'node-a', annotations: { 'coxswain.dev/pod-paths': 'routes' } } }
  const nodes = [
    readyNode('node-a', '192.0.2.1', ours),
    readyNode('node-b', '192.0.2.2', { status: { nodeInfo: { containerRuntimeVersion: 'simulated://1' } } }),
  ]
  const { unchecked } = await explained('pod/blue/b:80', [...nodes, denied('default/closed', ['Egress'])])
  equal(
    unchecked.at(-1),
    'whether the nodes node-a and node-b enforce policies: coxswain flow networkpolicy/closed -n default shows which nodes have applied it',
  )
})

test('targets that cannot be explained', async () => {
  const several = readyPod(
    'default/many',
    ['10.244.0.9'],
    {},
    {
      spec: {
        containers: [
          {
            name: 'c',
            ports: [
              { containerPort: 1, protocol: 'TCP' },
              { name: 'x', containerPort: 2, protocol: 'UDP' },
            ],
          },
        ],
      },
    },
  )
  await rejects(explained('pod/none:80', []), /there is no pod none in the namespace default/)
  await rejects(explained('service/blue/none', []), /there is no service none in the namespace blue/)
  await rejects(
    explained('pod/many', [several]),
    /name a port of pod default\/many, for example :80; it declares 1\/TCP, x \(2\/UDP\)/,
  )
  await rejects(explained('pod/many:http', [several]), /name a port of pod/)
  await rejects(
    explained('pod/bare', [readyPod('default/bare', [], {}, { spec: { containers: [{ name: 'c' }] } })]),
    /it declares no ports/,
  )
  const two = serviceWith({
    ports: [
      { name: 'http', protocol: 'TCP', port: 80 },
      { name: 'tls', protocol: 'TCP', port: 443 },
    ],
  })
  await rejects(
    explained('service/web', [two]),
    /name a port of service default\/web, for example :80; it has http \(80\/TCP\), tls \(443\/TCP\)/,
  )
  await rejects(explained('service/web:1', [serviceWith({ ports: [] })]), /it has no ports/)
})

test('the text has a heading, the summary, the path and what was not checked', async () => {
  const target = parseReachTarget('pod/blue/b:80', 'default')
  if (target === undefined) throw new Error('no target')
  const found = await reach(a, target, readerOf(cluster))
  equal(
    reachText(a, target, found),
    [
      'pod/a to pod/blue/b:80',
      `  ${allowed}`,
      '',
      `  ${freeEgress}`,
      `  ${freeIngress}`,
      '',
      'Not checked:',
      `  ${listens}`,
      `  ${between}`,
      '',
    ].join('\n'),
  )
  equal(
    reachText(a, target, { verdict: 'unreachable', summary: 'S.', sentences: [], unchecked: [], hops: [] }),
    'pod/a to pod/blue/b:80\n  S.\n',
  )
})
