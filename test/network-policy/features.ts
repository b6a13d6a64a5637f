// The features of NetworkPolicy that the tests of upstream check, each with the connections that it allows.
import type { Probe } from './probes.ts'
import { namespaceWith, podWith, policyWith, type StartedAgent } from './world.ts'

export interface Feature {
  readonly name: string
  readonly protocols?: readonly Probe['protocol'][]
  /** Changes, one after the other, each with what it allows. Connections of a pod to itself are always allowed. */
  readonly steps: readonly (readonly [(agent: StartedAgent) => void, (probe: Probe) => boolean])[]
}

const policy = (path: string, spec: object) => (agent: StartedAgent) => agent.policies.put(policyWith(path, spec))
const noPolicy = (path: string) => (agent: StartedAgent) => agent.policies.remove(policyWith(path, { podSelector: {} }))
const all =
  (...changes: ((agent: StartedAgent) => void)[]) =>
  (agent: StartedAgent) =>
    changes.forEach((change) => change(agent))

const podIs = (name: string) => ({ podSelector: { matchLabels: { pod: name } } })
const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { ns: name } } })
const within = (name: string, path: string): boolean => path.startsWith(`${name}/`)
const toA = { podSelector: { matchLabels: { pod: 'a' } } }

const one = (name: string, spec: object, isAllowed: (probe: Probe) => boolean, more: object = {}): Feature => ({
  name,
  steps: [[policy('x/p', spec), isAllowed]],
  ...more,
})

export const features: readonly Feature[] = [
  one('default deny of ingress', { podSelector: {} }, ({ to }) => !within('x', to), {
    protocols: ['TCP', 'UDP', 'SCTP'],
  }),
  one('default deny of egress', { podSelector: {}, policyTypes: ['Egress'] }, ({ from }) => !within('x', from)),
  one(
    'default deny of both',
    { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    ({ from, to }) => !within('x', from) && !within('x', to),
  ),
  one('pods of the own namespace by labels', { ...toA, ingress: [{ from: [podIs('b')] }] }, ({ from, to }) =>
    to === 'x/a' ? from === 'x/b' : true,
  ),
  one('pods of a namespace by its labels', { ...toA, ingress: [{ from: [inNamespace('y')] }] }, ({ from, to }) =>
    to === 'x/a' ? within('y', from) : true,
  ),
  one(
    'pods by expressions',
    {
      ...toA,
      ingress: [{ from: [{ podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b'] }] } }] }],
    },
    ({ from, to }) => (to === 'x/a' ? from === 'x/b' : true),
  ),
  one(
    'namespaces by expressions',
    {
      ...toA,
      ingress: [
        { from: [{ namespaceSelector: { matchExpressions: [{ key: 'ns', operator: 'NotIn', values: ['x'] }] } }] },
      ],
    },
    ({ from, to }) => (to === 'x/a' ? !within('x', from) : true),
  ),
  one('pods or namespaces', { ...toA, ingress: [{ from: [podIs('b'), inNamespace('y')] }] }, ({ from, to }) =>
    to === 'x/a' ? from === 'x/b' || within('y', from) : true,
  ),
  one(
    'pods of namespaces',
    { ...toA, ingress: [{ from: [{ ...podIs('b'), ...inNamespace('y') }] }] },
    ({ from, to }) => (to === 'x/a' ? from === 'y/b' : true),
  ),
  one(
    'several pods of several namespaces',
    {
      ...toA,
      ingress: [
        {
          from: [
            {
              podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b', 'c'] }] },
              namespaceSelector: { matchExpressions: [{ key: 'ns', operator: 'In', values: ['y', 'z'] }] },
            },
          ],
        },
      ],
    },
    ({ from, to }) => (to === 'x/a' ? /^[yz]\/[bc]$/.test(from) : true),
  ),
  one('any pod of the own namespace', { ...toA, ingress: [{ from: [{ podSelector: {} }] }] }, ({ from, to }) =>
    to === 'x/a' ? within('x', from) : true,
  ),
  one('one port', { ...toA, ingress: [{ ports: [{ port: 81 }] }] }, ({ to, port }) => to !== 'x/a' || port === 81),
  one(
    'one named port',
    { ...toA, ingress: [{ ports: [{ port: 'serve-80-tcp' }] }] },
    ({ to, port, protocol }) => to !== 'x/a' || (port === 80 && protocol === 'TCP'),
    { protocols: ['TCP', 'UDP'] },
  ),
  one(
    'a port and a namespace',
    { ...toA, ingress: [{ ports: [{ port: 80 }], from: [inNamespace('y')] }] },
    ({ from, to, port }) => to !== 'x/a' || (within('y', from) && port === 80),
  ),
  one('allow all', { podSelector: {}, ingress: [{}] }, () => true),
  one(
    'egress to one named port',
    { ...toA, policyTypes: ['Egress'], egress: [{ ports: [{ port: 'serve-81-tcp' }] }] },
    ({ from, port }) => from !== 'x/a' || port === 81,
  ),
  one(
    'egress by pods and namespaces',
    { ...toA, policyTypes: ['Egress'], egress: [{ to: [{ ...podIs('b'), ...inNamespace('z') }] }] },
    ({ from, to }) => from !== 'x/a' || to === 'z/b',
  ),
  one(
    'egress to blocks',
    {
      ...toA,
      policyTypes: ['Egress'],
      egress: [{ to: ['10.244.0.14/32', 'fd01::a:14/128'].map((cidr) => ({ ipBlock: { cidr } })) }],
    },
    ({ from, to }) => from !== 'x/a' || to === 'y/a',
  ),
  one(
    'egress to blocks with exceptions',
    {
      ...toA,
      policyTypes: ['Egress'],
      egress: [
        {
          to: [
            { ipBlock: { cidr: '10.244.0.0/24', except: ['10.244.0.14/32', '10.244.0.15/32'] } },
            { ipBlock: { cidr: 'fd01::a:0/112', except: ['fd01::a:14/128', 'fd01::a:15/128'] } },
          ],
        },
      ],
    },
    ({ from, to }) => from !== 'x/a' || (to !== 'y/a' && to !== 'y/b'),
  ),
  one(
    'ingress and egress together',
    {
      ...toA,
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [inNamespace('y')] }],
      egress: [{ to: [inNamespace('z')] }],
    },
    ({ from, to }) => (to !== 'x/a' || within('y', from)) && (from !== 'x/a' || within('z', to)),
  ),
  one(
    'a policy for UDP leaves TCP closed',
    { ...toA, ingress: [{ ports: [{ protocol: 'UDP', port: 80 }] }] },
    ({ to, port, protocol }) => to !== 'x/a' || (protocol === 'UDP' && port === 80),
    { protocols: ['TCP', 'UDP', 'SCTP'] },
  ),
  one(
    'a policy for SCTP leaves TCP closed',
    { ...toA, ingress: [{ ports: [{ protocol: 'SCTP', port: 80 }] }] },
    ({ to, port, protocol }) => to !== 'x/a' || (protocol === 'SCTP' && port === 80),
    { protocols: ['TCP', 'SCTP'] },
  ),
  one(
    'a range of ports',
    { ...toA, ingress: [{ ports: [{ port: 81, endPort: 90 }] }] },
    ({ to, port }) => to !== 'x/a' || port === 81,
  ),
  {
    name: 'stacked policies allow what one of them allows',
    steps: [
      [policy('x/p', { ...toA, ingress: [{ ports: [{ port: 80 }] }] }), ({ to, port }) => to !== 'x/a' || port === 80],
      [policy('x/q', { ...toA, ingress: [{ ports: [{ port: 81 }] }] }), () => true],
      [all(noPolicy('x/p'), noPolicy('x/q')), () => true],
    ],
  },
  {
    name: 'an updated policy',
    steps: [
      [policy('x/p', { podSelector: {}, ingress: [{}] }), () => true],
      [policy('x/p', { podSelector: {}, ingress: [] }), ({ to }) => !within('x', to)],
      [noPolicy('x/p'), () => true],
    ],
  },
  {
    name: 'ingress and egress of two pods are independent',
    steps: [
      [
        all(
          policy('x/p', { ...toA, policyTypes: ['Egress'], egress: [{ to: [inNamespace('y')] }] }),
          policy('y/p', { ...toA, ingress: [] }),
        ),
        ({ from, to }) => to !== 'y/a' && (from !== 'x/a' || within('y', to)),
      ],
      [
        policy('y/p', { ...toA, ingress: [{ from: [inNamespace('x')] }] }),
        ({ from, to }) => (to !== 'y/a' || within('x', from)) && (from !== 'x/a' || within('y', to)),
      ],
    ],
  },
  {
    name: 'changed labels of a namespace',
    steps: [
      [
        policy('x/p', { ...toA, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'blue' } } }] }] }),
        ({ to }) => to !== 'x/a',
      ],
      [
        ({ namespaces }) => namespaces.put(namespaceWith('z', { team: 'blue' })),
        ({ from, to }) => to !== 'x/a' || within('z', from),
      ],
      [({ namespaces }) => namespaces.put(namespaceWith('z')), ({ to }) => to !== 'x/a'],
    ],
  },
  {
    name: 'changed labels of pods, as peer and as subject',
    steps: [
      [
        policy('x/p', {
          podSelector: { matchLabels: { locked: 'yes' } },
          ingress: [{ from: [{ podSelector: { matchLabels: { key: 'yes' } } }] }],
        }),
        () => true,
      ],
      [({ pods }) => pods.put(podWith('x/a', { labels: { locked: 'yes' } })), ({ to }) => to !== 'x/a'],
      [
        ({ pods }) => pods.put(podWith('x/b', { labels: { key: 'yes' } })),
        ({ from, to }) => to !== 'x/a' || from === 'x/b',
      ],
      [({ pods }) => pods.put(podWith('x/a')), () => true],
    ],
  },
]
