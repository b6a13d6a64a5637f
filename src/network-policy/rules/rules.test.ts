import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { podAt, policyWith } from '../network-policy.harness.ts'
import { compiledPolicy, type PortMatch } from './compiled-policy.ts'
import { decide, type MissedRule, type SideVerdict, type TrafficEnd } from './decision.ts'
import { namedPortId, podFacts } from './pod-facts.ts'
import { mergedPorts } from './port-ranges.ts'
import { SelectionIndex } from './selection-index.ts'

test('a policy isolates the directions of its types', () => {
  const isolated = (spec: object) => {
    const { ingress, egress } = compiledPolicy(policyWith('x/p', { podSelector: {}, ...spec })).rules
    return [ingress?.length, egress?.length]
  }
  deepEqual(isolated({}), [0, undefined])
  deepEqual(isolated({ egress: [{}] }), [0, 1])
  deepEqual(isolated({ policyTypes: ['Egress'] }), [undefined, 0])
})

test('a peer without a namespace selector is in the namespace of the policy', () => {
  const { rules } = compiledPolicy(policyWith('x/p', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }))
  deepEqual(rules.ingress?.[0]?.peers, [{ kind: 'pods', selection: { namespaces: { name: 'x' }, pods: [] } }])
})

const pods: readonly (readonly [string, object, readonly string[] | undefined])[] = [
  ['a running pod', {}, ['10.244.0.2']],
  ['a pod on the network of its node', { spec: { hostNetwork: true } }, undefined],
  ['a pod that has succeeded', { status: { phase: 'Succeeded' } }, undefined],
  ['a pod that has failed', { status: { phase: 'Failed' } }, undefined],
  ['a pod without addresses', { status: { podIPs: undefined } }, []],
]
for (const [name, more, expected] of pods)
  test(`the addresses of ${name}`, () =>
    deepEqual(podFacts(podAt('x/a', ['10.244.0.2'], {}, more))?.addresses, expected))

test('named ports are those of containers and sidecars', () => {
  const port = (containerPort: number) => ({ name: 'http', containerPort })
  const spec = {
    containers: [
      { name: 'a', ports: [port(80), { containerPort: 9 }] },
      { name: 'b', ports: [port(80), port(81)] },
    ],
    initContainers: [
      { name: 'once', ports: [port(1)] },
      { name: 'sidecar', restartPolicy: 'Always', ports: [port(82)] },
    ],
  }
  const facts = podFacts(podAt('x/a', [], {}, { spec }))
  deepEqual([...(facts?.ports ?? [])], [[namedPortId('TCP', 'http'), [80, 81, 82]]])
})

const range = (first: number, last: number, protocol: PortMatch['protocol'] = 'TCP'): PortMatch => ({
  kind: 'range',
  protocol,
  first,
  last,
})
const ranges: readonly (readonly [string, readonly PortMatch[], string])[] = [
  ['one port', [range(80, 80)], 'TCP 80-80'],
  ['ranges that overlap', [range(85, 95), range(80, 90)], 'TCP 80-95'],
  ['adjacent ports', [range(80, 80), range(81, 81)], 'TCP 80-81'],
  ['a range inside another', [range(80, 90), range(82, 83)], 'TCP 80-90'],
  ['two protocols', [range(53, 53, 'UDP'), range(53, 53)], 'TCP 53-53; UDP 53-53'],
  ['a named port', [{ kind: 'named', protocol: 'TCP', name: 'http' }], 'TCP 8080-8080'],
  ['an unknown name', [{ kind: 'named', protocol: 'TCP', name: 'none' }], ''],
]
for (const [name, ports, expected] of ranges)
  test(`merged ports: ${name}`, () => {
    const merged = mergedPorts(ports, (_, port) => (port === 'http' ? [8080] : []))
    const text = merged.map(
      (each) => `${each.protocol} ${each.ranges.map(({ first, last }) => `${first}-${last}`).join()}`,
    )
    equal(text.join('; '), expected)
  })

test('a lookup depends on the labels of the pod', () => {
  const index = new SelectionIndex<string>()
  const byLabel = { namespaces: { name: 'x' }, pods: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] } as const
  index.add(byLabel, 'by label')
  index.add({ namespaces: { selector: [] }, pods: [{ key: 'app', operator: 'Exists', values: [] }] }, 'anywhere')
  const found = (namespace: string, labels: Record<string, string>) => [...index.candidates({ namespace, labels })]
  deepEqual(found('x', { app: 'b', other: 'c' }), ['by label', 'anywhere'])
  deepEqual(found('y', { app: 'b' }), ['anywhere'])
  index.remove(byLabel, 'by label')
  deepEqual(found('x', { app: 'b' }), ['anywhere'])
})

const end = (path: string | undefined, address: string) => ({
  address,
  pod: path === undefined ? undefined : podFacts(podAt(path, [address], { app: path })),
})
const a = end('x/a', '10.244.0.2')
const b = end('y/b', '10.244.0.3')
const outside = end(undefined, '192.0.2.9')
const from = (...peers: object[]) => ({ podSelector: {}, ingress: [{ ports: [{ port: 1 }] }, { from: peers }] })
const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, except } })
const nowhere: SideVerdict = { kind: 'not isolated' }
const allowed: SideVerdict = { kind: 'allowed', policy: 'x/p', rule: 1 }
const missing = (...differs: MissedRule['differs'][]): SideVerdict => ({
  kind: 'blocked',
  policies: ['x/p'],
  missed: differs.map((each, rule) => ({ policy: 'x/p', rule, differs: each })),
})
/** The first rule allows another port, the second one other peers. */
const blocked = missing('port', 'peer')
const itsNode = { ...end(undefined, '192.0.2.1'), node: 'node-a' }

const decisions: readonly (readonly [string, object, TrafficEnd, SideVerdict])[] = [
  ['a pod that no policy selects', { podSelector: { matchLabels: { app: 'other' } } }, b, nowhere],
  ['a policy for egress only', { podSelector: {}, policyTypes: ['Egress'] }, b, nowhere],
  ['no rules', { podSelector: {} }, b, missing()],
  ['the node of the pod', { podSelector: {} }, itsNode, { kind: 'own node' }],
  ['another node', { podSelector: {} }, { ...itsNode, node: 'node-b' }, missing()],
  [
    'a rule for other peers at other ports',
    { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 1 }] }] },
    b,
    missing('peer and port'),
  ],
  ['a pod that reaches itself', { podSelector: {} }, a, { kind: 'itself' }],
  ['a peer by namespace', from({ namespaceSelector: { matchLabels: { ns: 'y' } } }), b, allowed],
  ['a peer of another namespace', from({ podSelector: {} }), b, blocked],
  ['an address outside is not a pod', from({ namespaceSelector: {} }), outside, blocked],
  ['an address in a block', from(block('192.0.2.0/24')), outside, allowed],
  ['an address in an exception', from(block('192.0.2.0/24', '192.0.2.8/31')), outside, blocked],
  ['an address of another family', from(block('::/0')), outside, blocked],
]
for (const [name, spec, client, expected] of decisions)
  test(`ingress: ${name}`, () => {
    const policy = compiledPolicy(policyWith('x/p', spec))
    const view = {
      policiesIn: (namespace: string) => (namespace === 'x' ? [policy] : []),
      labelsOf: (namespace: string) => ({ ns: namespace }),
    }
    const decision = decide({ from: client, to: a, protocol: 'TCP', port: 8080 }, view)
    deepEqual(decision.ingress, expected)
    equal(decision.isAllowed, expected.kind !== 'blocked')
  })

const ports: readonly (readonly [string, object, typeof a, boolean])[] = [
  ['the name of a port of the peer', { ports: [{ port: 'http' }] }, b, true],
  ['a name that the peer does not have', { ports: [{ port: 'other' }] }, b, false],
  ['a name, of an address outside', { ports: [{ port: 'http' }] }, outside, false],
  ['a name, of a block', { ports: [{ port: 'http' }], to: [block('10.0.0.0/8')] }, b, false],
  ['a number, of a block', { ports: [{ port: 8080 }], to: [block('10.0.0.0/8')] }, b, true],
  ['a range', { ports: [{ port: 8000, endPort: 8100 }] }, b, true],
  ['another protocol', { ports: [{ port: 8080, protocol: 'UDP' }] }, b, false],
]
for (const [name, rule, server, expected] of ports)
  test(`egress: ${name}`, () => {
    const policy = compiledPolicy(policyWith('x/p', { podSelector: {}, policyTypes: ['Egress'], egress: [rule] }))
    const view = { policiesIn: (namespace: string) => (namespace === 'x' ? [policy] : []), labelsOf: () => ({}) }
    equal(decide({ from: a, to: server, protocol: 'TCP', port: 8080 }, view).isAllowed, expected)
  })
