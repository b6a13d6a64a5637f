// Every kind of peer with every kind of port, for ingress and egress, and the connections that each combination allows.
import type { Probe } from './probes.ts'

export interface PeerKind {
  readonly name: string
  readonly peers: readonly object[] | undefined
  /** `peer` is a pod of any namespace or `outside`. The policy is in the namespace x. */
  readonly isAllowed: (peer: string) => boolean
}

export interface PortKind {
  readonly name: string
  readonly ports: readonly object[] | undefined
  readonly isAllowed: (probe: Pick<Probe, 'port' | 'protocol'>) => boolean
  /** For egress, names are those of the peer, which must be selected as a pod. */
  readonly isNamed?: boolean
}

const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
})
const isPod = (peer: string): boolean => peer !== 'outside'
const blocks = (...pairs: readonly (readonly [string, ...string[]])[]) =>
  pairs.map(([cidr, ...except]) => ({ ipBlock: { cidr, except } }))

export const peerKinds: readonly PeerKind[] = [
  { name: 'everyone', peers: undefined, isAllowed: () => true },
  { name: 'pods of the namespace', peers: [{ podSelector: {} }], isAllowed: (peer) => peer.startsWith('x/') },
  {
    name: 'pods of the namespace by label',
    peers: [{ podSelector: { matchLabels: { pod: 'b' } } }],
    isAllowed: (peer) => peer === 'x/b',
  },
  { name: 'all pods', peers: [{ namespaceSelector: {} }], isAllowed: isPod },
  {
    name: 'a namespace',
    peers: [{ namespaceSelector: { matchLabels: { ns: 'y' } } }],
    isAllowed: (peer) => peer.startsWith('y/'),
  },
  {
    name: 'pods of a namespace by label',
    peers: [{ namespaceSelector: { matchLabels: { ns: 'y' } }, podSelector: { matchLabels: { pod: 'a' } } }],
    isAllowed: (peer) => peer === 'y/a',
  },
  {
    name: 'one of two namespaces',
    peers: [{ namespaceSelector: expression('ns', 'In', 'x', 'z') }],
    isAllowed: (peer) => /^[xz]\//.test(peer),
  },
  {
    name: 'other namespaces than one',
    peers: [{ namespaceSelector: expression('ns', 'NotIn', 'y') }],
    isAllowed: (peer) => /^[xz]\//.test(peer),
  },
  {
    name: 'pods with a label',
    peers: [{ namespaceSelector: {}, podSelector: expression('pod', 'Exists') }],
    isAllowed: isPod,
  },
  {
    name: 'pods without a label',
    peers: [{ namespaceSelector: {}, podSelector: expression('pod', 'DoesNotExist') }],
    isAllowed: () => false,
  },
  { name: 'a block', peers: blocks(['192.168.50.0/24'], ['fd50::/64']), isAllowed: (peer) => !isPod(peer) },
  {
    name: 'all addresses except pods',
    peers: blocks(['0.0.0.0/0', '10.244.0.0/16'], ['::/0', 'fd01::/16']),
    isAllowed: (peer) => !isPod(peer),
  },
  {
    name: 'pods of the namespace or another namespace',
    peers: [{ podSelector: {} }, { namespaceSelector: { matchLabels: { ns: 'z' } } }],
    isAllowed: (peer) => /^[xz]\//.test(peer),
  },
]

export const portKinds: readonly PortKind[] = [
  { name: 'all ports', ports: undefined, isAllowed: () => true },
  { name: 'a TCP port', ports: [{ port: 80 }], isAllowed: ({ port, protocol }) => protocol === 'TCP' && port === 80 },
  {
    name: 'a UDP port',
    ports: [{ port: 80, protocol: 'UDP' }],
    isAllowed: ({ port, protocol }) => protocol === 'UDP' && port === 80,
  },
  {
    name: 'an SCTP port',
    ports: [{ port: 81, protocol: 'SCTP' }],
    isAllowed: ({ port, protocol }) => protocol === 'SCTP' && port === 81,
  },
  { name: 'a TCP range', ports: [{ port: 80, endPort: 81 }], isAllowed: ({ protocol }) => protocol === 'TCP' },
  {
    name: 'a UDP range',
    ports: [{ port: 81, endPort: 90, protocol: 'UDP' }],
    isAllowed: ({ port, protocol }) => protocol === 'UDP' && port === 81,
  },
  {
    name: 'a named port',
    ports: [{ port: 'serve-81-tcp' }],
    isAllowed: ({ port, protocol }) => protocol === 'TCP' && port === 81,
    isNamed: true,
  },
  { name: 'a protocol', ports: [{ protocol: 'UDP' }], isAllowed: ({ protocol }) => protocol === 'UDP' },
  {
    name: 'ports of two protocols, and one twice',
    ports: [{ port: 80 }, { port: 80, endPort: 80 }, { port: 81, protocol: 'UDP' }],
    isAllowed: ({ port, protocol }) => (protocol === 'TCP' && port === 80) || (protocol === 'UDP' && port === 81),
  },
]
