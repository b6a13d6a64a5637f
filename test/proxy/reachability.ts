// What a client gets from a Service, described in plain terms and independently of the proxy.

export const clients = ['pod', 'same pod', 'node', 'other node', 'outside'] as const
export type Client = (typeof clients)[number]

export const addressKinds = ['cluster IP', 'node port', 'load balancer IP', 'external IP'] as const
export type AddressKind = (typeof addressKinds)[number]

export const endpointSets = ['none', 'one', 'many', 'terminating', 'other node', 'unready'] as const
export type EndpointSet = (typeof endpointSets)[number]

export interface Case {
  readonly client: Client
  readonly addressKind: AddressKind
  readonly policy: 'Cluster' | 'Local'
  readonly endpoints: EndpointSet
}

/** The machines of the clients. */
export const machineOf = {
  pod: 'pod-a2',
  'same pod': 'pod-a1',
  node: 'node-a',
  'other node': 'node-b',
  outside: 'outside',
} as const satisfies Record<Client, string>

/** The pods that serve, and those of them on the node where the client's packet arrives. */
export const serving: Record<EndpointSet, readonly string[]> = {
  none: [],
  one: ['pod-a1'],
  many: ['pod-a1', 'pod-a2', 'pod-b1'],
  terminating: ['pod-a1'],
  'other node': ['pod-b1'],
  unready: [],
}
const isHere = (pod: string) => pod.startsWith('pod-a')

export type Expected =
  | { readonly kind: 'refused' | 'silent' }
  /** One of the pods responds; each of them sees its source. */
  | { readonly kind: 'reached'; readonly sources: ReadonlyMap<string, 'client' | 'node'> }

export function expected({ client, addressKind, policy, endpoints }: Case): Expected {
  const all = serving[endpoints]
  if (all.length === 0) return { kind: 'refused' }
  const isInCluster = client === 'pod' || client === 'same pod' || client === 'node'
  // From inside, an external address is a shortcut to the Service; the policy is for external clients.
  const staysHere = policy === 'Local' && (addressKind === 'cluster IP' || !isInCluster)
  const pods = staysHere ? all.filter(isHere) : all
  if (pods.length === 0) return { kind: 'silent' }
  return { kind: 'reached', sources: new Map(pods.map((pod) => [pod, sourceSeenBy(pod, client, addressKind, policy)])) }
}

function sourceSeenBy(pod: string, client: Client, addressKind: AddressKind, policy: string): 'client' | 'node' {
  if (pod === machineOf[client]) return 'node' // otherwise its response would not pass the node
  const isPod = client === 'pod' || client === 'same pod'
  if (addressKind === 'cluster IP') return isPod ? 'client' : 'node'
  if (policy === 'Cluster' || client === 'node') return 'node'
  return 'client'
}
