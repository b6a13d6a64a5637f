// The Service of type LoadBalancer through which clients reach a Gateway, and the EndpointSlice that leads it to the proxy.
// Every port of listeners has a port of its own at the proxy, so all Gateways share the address there. Pure.
import type { EndpointSlice, EndpointSliceInput } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { Service, ServiceInput } from '../../api/core/v1/service/service.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { Gateway } from '../kinds/gateway-kinds.ts'
import { requestedAddresses, type AssignedAddresses } from './assigned-addresses.ts'
import { met, unmet } from './outcome.ts'

/** Where the proxy is. */
export interface BalancerTarget {
  readonly address: string
  readonly nodeName: string
}

export const gatewayNameLabel = 'gateway.networking.k8s.io/gateway-name'
const classNameLabel = 'gateway.networking.k8s.io/gateway-class-name'
const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
const manager = 'coxswain.dev-gateway'

const serviceNamePattern = /^[a-z](?:[-a-z\d]{0,61}[a-z\d])?$/ // linear: the repeated classes end with the text

/** The name of the Service and of its EndpointSlice. */
export function balancerName({ metadata: { name, uid }, spec }: Gateway): string {
  const usual = `${name}-${spec.gatewayClassName}`
  return serviceNamePattern.test(usual) ? usual : `gateway-${uid}`
}

export const balancerKey = (gateway: Gateway): ObjectKey => objectKey(namespaceOf(gateway), balancerName(gateway))

const portName = (port: number): string => `port-${port}`
const servedProtocols = new Set(['HTTP', 'HTTPS', 'TLS'])

/** The ports of its listeners, and those of its ListenerSets. */
const portsOf = ({ spec }: Gateway, setPorts: readonly number[]): readonly number[] => {
  const served = spec.listeners.filter(({ protocol }) => servedProtocols.has(protocol.toUpperCase()))
  return [...new Set([...served.map(({ port }) => port), ...setPorts])].toSorted((a, b) => a - b)
}

const metadataOf = (gateway: Gateway, labels: Readonly<Record<string, string>>) => {
  const { name, uid } = gateway.metadata
  const { infrastructure: { labels: wanted, annotations } = {}, gatewayClassName } = gateway.spec
  return {
    name: balancerName(gateway),
    namespace: namespaceOf(gateway),
    labels: { ...wanted, ...labels, [classNameLabel]: gatewayClassName },
    ...(annotations === undefined ? {} : { annotations }),
    ownerReferences: [{ apiVersion: `${gatewayGroup}/v1`, kind: 'Gateway', name, uid, controller: true }],
  }
}

/** A name that is too long for a label is left out. */
const labelsOf = ({ metadata: { name } }: Gateway): Readonly<Record<string, string>> =>
  name.length <= 63 ? { [gatewayNameLabel]: name } : {}

/** Undefined if no listener has a port that can be served. The proxy sees the addresses of clients. */
export function balancerService(gateway: Gateway, setPorts: readonly number[] = []): ServiceInput | undefined {
  const ports = portsOf(gateway, setPorts).map((port) => ({ name: portName(port), port, protocol: 'TCP' as const }))
  if (ports.length === 0) return undefined
  const [loadBalancerIP] = requestedAddresses(gateway)
  return {
    metadata: metadataOf(gateway, labelsOf(gateway)),
    spec: {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      allocateLoadBalancerNodePorts: false,
      ports,
      ...(loadBalancerIP === undefined ? {} : { loadBalancerIP }),
    },
  }
}

/** `opened` are the ports of the proxy by those of the listeners. */
export const balancerSlice = (
  gateway: Gateway,
  { address, nodeName }: BalancerTarget,
  opened: ReadonlyMap<number, number>,
): EndpointSliceInput => ({
  metadata: metadataOf(gateway, { [serviceNameLabel]: balancerName(gateway), [managedByLabel]: manager }),
  addressType: familyOf(address),
  endpoints: [{ addresses: [address], conditions: { ready: true }, nodeName }],
  ports: Array.from(opened, ([port, own]) => ({ name: portName(port), port: own, protocol: 'TCP' as const })),
})

export const belongsTo = ({ metadata }: Service | EndpointSlice, gateway: Gateway): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === gateway.metadata.uid)

/** The addresses that the load balancer has assigned to the Service. */
export function balancedAddresses(gateway: Gateway, service: Service | undefined): AssignedAddresses {
  const places = [keyOf(gateway)]
  const failed = (reason: string, message: string) => ({ outcome: unmet(reason, message), addresses: [], places })
  const name = balancerKey(gateway)
  if (service !== undefined && !belongsTo(service, gateway))
    return failed(
      'AddressNotAssigned',
      `Service ${name}, which is not of this Gateway, has the name of its load balancer`,
    )
  const addresses = (service?.status.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  const missing = requestedAddresses(gateway).find((address) => !addresses.includes(address))
  if (missing !== undefined)
    return failed('AddressNotUsable', `the load balancer of Service ${name} has not assigned ${missing}`)
  return addresses.length === 0
    ? failed('AddressNotAssigned', `the load balancer of Service ${name} has not assigned an address`)
    : { outcome: met('Programmed', 'the load balancer has assigned the addresses'), addresses, places }
}
