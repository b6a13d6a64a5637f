import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { parseInterfaceName } from '../../base/net/interface-name.ts'
import { podAt, policyWith } from '../network-policy.harness.ts'
import { podFacts } from '../rules/pod-facts.ts'
import { PolicyTable } from './policy-table.ts'

function newTable() {
  const bridge = parseInterfaceName('cni0')
  ok(bridge !== undefined)
  const table = new PolicyTable({ nodeName: 'node-a', ownRanges: parseCidrs(['10.244.0.0/24']), bridge })
  for (const name of ['x', 'y']) table.setNamespace(name, { ns: name })
  const put = (...args: Parameters<typeof podAt>) => table.setPod(args[0], podFacts(podAt(...args)))
  const policy = (path: string, spec: object | undefined) =>
    table.setPolicy(path, spec === undefined ? undefined : policyWith(path, spec))
  /** Without the family and the name of the table. */
  const changes = () => table.changes().map((command) => command.replace('inet coxswain-policy ', ''))
  return { table, put, policy, changes }
}

const elements = (set: string, ...keys: string[]) => `add element ${set} { ${keys.join(', ')} }`

test('a pod that no policy selects is only known', () => {
  const { put, changes } = newTable()
  put('x/a', ['10.244.0.2', 'fd00::2'])
  deepEqual(changes(), [elements('pods4', '10.244.0.2'), elements('pods6', 'fd00::2')])
  deepEqual(changes(), [])
})

test('pods with the same policies share their chains', () => {
  const { put, policy, changes } = newTable()
  put('x/a', ['10.244.0.2'])
  policy('x/deny', { podSelector: {} })
  deepEqual(changes(), [
    'add chain policy-ingress-1',
    'add chain pod-ingress-2',
    'add rule pod-ingress-2 jump policy-ingress-1',
    'add rule pod-ingress-2 drop',
    elements('pods4', '10.244.0.2'),
    elements('self4', '10.244.0.2 . 10.244.0.2'),
    elements('ingress4', '10.244.0.2 : goto pod-ingress-2'),
  ])
  put('x/b', ['10.244.0.3'])
  deepEqual(changes(), [
    elements('pods4', '10.244.0.3'),
    elements('self4', '10.244.0.3 . 10.244.0.3'),
    elements('ingress4', '10.244.0.3 : goto pod-ingress-2'),
  ])
})

test('rules with equal selections share a set, to which a new peer is added once', () => {
  const { put, policy, changes } = newTable()
  put('x/a', ['10.244.0.2'])
  const rule = { from: [{ namespaceSelector: { matchLabels: { ns: 'y' } } }] }
  for (const name of ['p', 'q', 'r']) policy(`x/${name}`, { podSelector: {}, ingress: [rule] })
  changes()
  put('y/b', ['10.244.1.9'], {}, { spec: { nodeName: 'node-b' } })
  deepEqual(changes(), [elements('peers-1-of4', '10.244.1.9')])
  put('y/b', ['10.244.1.9'], { changed: 'label' }, { spec: { nodeName: 'node-b' } })
  deepEqual(changes(), [])
})

test('a changed rule changes one chain, whatever the number of pods', () => {
  const { put, policy, changes } = newTable()
  for (let at = 2; at < 50; at++) put(`x/p${at}`, [`10.244.0.${at}`])
  policy('x/p', { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] })
  changes()
  policy('x/p', { podSelector: {}, ingress: [{ ports: [{ port: 81 }] }] })
  deepEqual(changes(), [
    'flush chain policy-ingress-1',
    'add rule policy-ingress-1 tcp dport { 81 } accept comment "policy/x/p ingress[0]"',
  ])
})

test('a policy without its pods leaves nothing', () => {
  const { put, policy, changes, table } = newTable()
  const empty = table.all()
  put('x/a', ['10.244.0.2'])
  put('y/b', ['10.244.0.3'])
  const peers = [{ podSelector: {} }, { namespaceSelector: {} }, { ipBlock: { cidr: '192.0.2.0/24' } }]
  policy('x/p', { podSelector: {}, ingress: [{ from: peers }], egress: [{ to: peers, ports: [{ port: 'http' }] }] })
  changes()
  policy('x/p', undefined)
  for (const path of ['x/a', 'y/b']) table.setPod(path, undefined)
  ok(changes().every((command) => /^(delete|flush)/.test(command)))
  deepEqual(table.all(), empty)
})

test('a change that is undone before it is applied needs no command', () => {
  const { policy, put, changes } = newTable()
  put('x/a', ['10.244.0.2'])
  changes()
  policy('x/p', { podSelector: {} })
  policy('x/p', undefined)
  deepEqual(changes(), [])
})

test('a direction that a policy gives up is open', () => {
  const { policy, put, changes } = newTable()
  put('x/a', ['10.244.0.2'])
  policy('x/p', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  changes()
  policy('x/p', { podSelector: {}, policyTypes: ['Ingress'] })
  const removed = changes().filter((command) => command.startsWith('delete'))
  deepEqual(removed, [
    'delete element egress4 { 10.244.0.2 }',
    'delete chain pod-egress-4',
    'delete chain policy-egress-3',
  ])
})

const lines: readonly (readonly [string, object, readonly string[]])[] = [
  ['all traffic', { ingress: [{}] }, ['accept']],
  [
    'a block with exceptions',
    { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } }] }] },
    ['ip saddr 10.0.0.0/8 ip saddr != { 10.1.0.0/16, 10.2.0.0/16 } accept'],
  ],
  [
    'a block of IPv6, for egress',
    { policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: { cidr: 'fd00::/8' } }] }] },
    ['ip6 daddr fd00::/8 accept'],
  ],
  [
    'ports of several protocols',
    {
      ingress: [
        { ports: [{ port: 80 }, { port: 90, endPort: 99 }, { port: 53, protocol: 'UDP' }, { protocol: 'SCTP' }] },
      ],
    },
    ['tcp dport { 80, 90-99 } accept', 'udp dport { 53 } accept', 'meta l4proto sctp accept'],
  ],
  ['a named port of the selected pod', { ingress: [{ ports: [{ port: 'http' }] }] }, ['tcp dport { 8080 } accept']],
  ['a name that the selected pod does not have', { ingress: [{ ports: [{ port: 'other' }] }] }, []],
  [
    'a named port of any peer',
    { policyTypes: ['Egress'], egress: [{ ports: [{ port: 'http' }] }] },
    [
      'ip daddr . meta l4proto . th dport @peers-1-of4 accept',
      'ip6 daddr . meta l4proto . th dport @peers-1-of6 accept',
    ],
  ],
  [
    'a named port of a block',
    { policyTypes: ['Egress'], egress: [{ ports: [{ port: 'http' }], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] },
    [],
  ],
  [
    'peers and ports',
    { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
    ['ip saddr @peers-1-of4 tcp dport { 80 } accept', 'ip6 saddr @peers-1-of6 tcp dport { 80 } accept'],
  ],
]
for (const [name, spec, expected] of lines)
  test(`rules: ${name}`, () => {
    const { policy, put, changes } = newTable()
    put('x/a', ['10.244.0.2'])
    policy('x/p', { podSelector: {}, ...spec })
    const found = changes().filter((command) => command.startsWith('add rule policy-'))
    deepEqual(
      found.map((command) => command.replace(/^add rule \S+ /, '').replace(/ comment .*$/, '')),
      expected,
    )
  })

test('a named port has a chain for each number that it has', () => {
  const { policy, put, changes } = newTable()
  policy('x/p', { podSelector: {}, ingress: [{ ports: [{ port: 'http' }] }] })
  put('x/a', ['10.244.0.2'])
  const spec = { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 9090 }] }] }
  put('x/b', ['10.244.0.3'], {}, { spec })
  const found = changes().filter((command) => /dport/.test(command))
  deepEqual(
    found.map((command) => /dport \{ (\d+) \}/.exec(command)?.[1]),
    ['8080', '9090'],
  )
})

test('an address that two pods have belongs to the newer one, and to the older one afterwards', () => {
  const { policy, put, changes, table } = newTable()
  policy('x/p', { podSelector: { matchLabels: { app: 'locked' } } })
  put('x/old', ['10.244.0.2'])
  changes()
  put('x/new', ['10.244.0.2'], { app: 'locked' })
  ok(changes().includes('add element ingress4 { 10.244.0.2 : goto pod-ingress-2 }'))
  table.setPod('x/new', undefined)
  deepEqual(changes().slice(0, 2).toSorted(), [
    'delete element ingress4 { 10.244.0.2 }',
    'delete element self4 { 10.244.0.2 . 10.244.0.2 }',
  ])
})

test('an address stays in a set as long as one pod has it', () => {
  const { policy, put, changes, table } = newTable()
  put('x/a', ['10.244.0.2'])
  policy('x/p', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: 'y' } } }] }] })
  put('y/old', ['10.244.1.2'], {}, { spec: { nodeName: 'node-b' } })
  put('y/new', ['10.244.1.2'], {}, { spec: { nodeName: 'node-b' } })
  changes()
  table.setPod('y/old', undefined)
  deepEqual(changes(), [])
  table.setNamespace('y', undefined)
  deepEqual(changes(), ['delete element peers-1-of4 { 10.244.1.2 }'])
})

test('the whole table begins with its layout', () => {
  const { table, put } = newTable()
  put('x/a', ['10.244.0.2'])
  const all = table.all()
  deepEqual(all.slice(0, 2), ['add table inet coxswain-policy', 'delete table inet coxswain-policy'])
  equal(all.at(-1), 'add element inet coxswain-policy pods4 { 10.244.0.2 }')
  deepEqual(table.changes(), [])
})
