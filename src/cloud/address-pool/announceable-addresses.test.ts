// Which addresses a node may announce, and at which place.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../api/core/v1/node/node.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import { AddressPool } from './address-pool.ts'
import { announceableAddresses, type AnnouncerView } from './announceable-addresses.ts'

const nodeOf = (name: string, isReady = true, more: object = {}) =>
  made(node, name, { status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] }, ...more })
const balanced = (name: string, ips: readonly string[], spec: object = {}, metadata: object = {}) =>
  made(service, name, {
    metadata: { name, namespace: 'default', ...metadata },
    spec: { type: 'LoadBalancer', ...spec },
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip, ipMode: 'VIP' })) } },
  })
const slice = (name: string, endpoints: readonly (readonly [nodeName: string, ready: boolean])[]) =>
  made(endpointSlice, name, {
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: endpoints.map(([nodeName, ready]) => ({ addresses: ['10.0.0.1'], nodeName, conditions: { ready } })),
  })

const local = { externalTrafficPolicy: 'Local' }
const first = '10.0.0.240'
const second = '10.0.0.241'
const third = '10.0.0.242'
const cases: readonly [name: string, Partial<AnnouncerView>, Readonly<Record<string, number>>][] = [
  [
    'consecutive addresses have different first nodes',
    { services: [balanced('a', [first, second, third])] },
    { [first]: 2, [second]: 1, [third]: 0 },
  ],
  ['an address of each family', { services: [balanced('a', [second, 'fd00::2'])] }, { [second]: 1, 'fd00::2': 0 }],
  ['addresses outside of the pool are not ours', { services: [balanced('a', ['192.0.2.1'])] }, {}],
  ['texts are no addresses', { services: [balanced('a', ['..', `${first}\n`, second])] }, { [second]: 1 }],
  ['nor are those of other classes', { services: [balanced('a', [first], { loadBalancerClass: 'other' })] }, {}],
  [
    'a Service that is being deleted is not announced',
    { services: [balanced('a', [first], {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    {},
  ],
  ['a Service without an address is not announced', { services: [balanced('a', [])] }, {}],
  ['a node that is not ready announces nothing', { nodes: [nodeOf('n0', false), nodeOf('n1')] }, {}],
  ['an unknown node announces nothing', { nodes: [nodeOf('n1')] }, {}],
  [
    'an excluded node announces nothing',
    {
      nodes: [
        nodeOf('n0', true, {
          metadata: { name: 'n0', labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } },
        }),
      ],
    },
    {},
  ],
  [
    'nodes that are not ready have no place',
    { services: [balanced('a', [second])], nodes: [nodeOf('n0'), nodeOf('n1', false)] },
    { [second]: 0 },
  ],
  [
    'Local: a node with a ready endpoint',
    { services: [balanced('a', [first], local)], slices: [slice('a', [['n0', true]])] },
    { [first]: 0 },
  ],
  [
    'Local: not a node whose endpoint is not ready',
    {
      services: [balanced('a', [first], local)],
      slices: [
        slice('a', [
          ['n0', false],
          ['n1', true],
        ]),
      ],
    },
    {},
  ],
  [
    'Local: endpoints of other Services do not count',
    { services: [balanced('a', [first], local)], slices: [slice('b', [['n0', true]])] },
    {},
  ],
]

for (const [name, view, ranks] of cases)
  test(name, () => {
    const pool = AddressPool.parse('10.0.0.240-10.0.0.249,fd00::/120')
    const nodes = [nodeOf('n2'), nodeOf('n0'), nodeOf('n1')]
    const found = announceableAddresses({
      pool,
      nodes,
      services: [balanced('a', [first])],
      slices: [],
      nodeName: 'n0',
      ...view,
    })
    deepEqual(Object.fromEntries(Array.from(found, ([address, { rank }]) => [address, rank])), ranks)
  })
