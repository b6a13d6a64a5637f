// Ports of nodes: which Service, pod or component of the machine uses a port that a load balancer on the nodes' own
// addresses needs. A port belongs to the oldest Service; node ports, host ports and the ports of Kubernetes come first.
import { usedPortsAnnotation } from '../../api/core/v1/node/node-labels.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'

/** A Service may name this class, or none. */
export const nodeAddressClass = 'coxswain.dev/node-addresses'

export const isBalancedByNodes = (service: Service): boolean =>
  service.spec.type === 'LoadBalancer' &&
  (service.spec.loadBalancerClass ?? nodeAddressClass) === nodeAddressClass &&
  !isBeingDeleted(service)

const portText = (port: number, protocol: string): string => `${port}/${protocol}`

/** `80/TCP`, for each port of the Service. */
export const balancedPorts = ({ spec }: Service): readonly string[] =>
  (spec.ports ?? []).map(({ port, protocol }) => portText(port, protocol))

const nodePorts = ({ spec }: Service): readonly string[] =>
  (spec.ports ?? []).flatMap(({ nodePort = 0, protocol }) => (nodePort === 0 ? [] : [portText(nodePort, protocol)]))

/** The ports of all nodes that a Service uses. */
export const claimedPorts = (service: Service | undefined): readonly string[] =>
  service === undefined ? [] : [...nodePorts(service), ...(isBalancedByNodes(service) ? balancedPorts(service) : [])]

/** The host ports of a pod that has not ended. */
export const hostPorts = ({ spec, status }: Pod): readonly string[] =>
  status.phase === 'Succeeded' || status.phase === 'Failed' || spec.nodeName === undefined
    ? []
    : spec.containers.flatMap(({ ports = [] }) =>
        ports.flatMap(({ hostPort = 0, protocol }) => (hostPort === 0 ? [] : [portText(hostPort, protocol)])),
      )

/** Whether `a` was created before `b`. */
export const isOlder = (a: Service, b: Service): boolean => {
  const ageOfA = a.metadata.creationTimestamp ?? ''
  const ageOfB = b.metadata.creationTimestamp ?? ''
  return ageOfA === ageOfB ? a.metadata.uid < b.metadata.uid : ageOfA < ageOfB
}

/** Why the Service cannot have its ports on any node; undefined when it can. */
export function conflictOf(service: Service, services: Iterable<Service>): string | undefined {
  const wanted = new Set(balancedPorts(service))
  for (const other of services) {
    const nodePort = nodePorts(other).find((port) => wanted.has(port))
    if (nodePort !== undefined) return `port ${nodePort} is a node port of Service ${keyOf(other)}`
    if (other.metadata.uid === service.metadata.uid || !isBalancedByNodes(other) || !isOlder(other, service)) continue
    const shared = balancedPorts(other).find((port) => wanted.has(port))
    if (shared !== undefined) return `port ${shared} belongs to the older Service ${keyOf(other)}`
  }
  return undefined
}

/** The ports of load balancers that programs of the machine use, as its kubelet reports them. */
export const usedPorts = ({ metadata }: Node): readonly string[] =>
  (lookup(metadata.annotations, usedPortsAnnotation) ?? '').split(',')

/** Why the Service cannot have its ports on one node; undefined when it can. */
export function nodeConflictOf(service: Service, node: Node, pods: Iterable<Pod>, apiPort: number): string | undefined {
  const wanted = new Set(balancedPorts(service))
  const { name } = node.metadata
  const kubelet = portText(node.status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0, 'TCP')
  if (wanted.has(kubelet)) return `port ${kubelet} is used on ${name} by the kubelet`
  const api = portText(apiPort, 'TCP')
  if (wanted.has(api)) return `port ${api} is used on ${name} by the API server`
  for (const pod of pods) {
    if (pod.spec.nodeName !== name) continue
    const used = hostPorts(pod).find((port) => wanted.has(port))
    if (used !== undefined) return `port ${used} is used on ${name} by pod ${keyOf(pod)}`
  }
  const used = usedPorts(node).find((port) => wanted.has(port))
  if (used !== undefined) return `port ${used} is used on ${name} by another program`
  return undefined
}
