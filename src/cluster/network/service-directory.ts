// ServiceDirectory: what the simulated network knows of Services, endpoints and nodes, from informers. Routes are computed
// for the node of each connection, so nodes without connections cost nothing.
import { zoneLabel } from '../../api/core/v1/node/node-labels.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { endpointSlice, type EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { ClusterZone } from '../../dns/records/cluster-zone.ts'
import { feedZone } from '../../dns/records/zone-feed.ts'
import { routedService, type RoutedService } from '../../proxy/routing/service-route.ts'

const addressIndex = 'address'
const nodePortIndex = 'node port'
const serviceIndex = 'service of a slice'

export class ServiceDirectory {
  readonly zone: ClusterZone
  /** Resolves when every object that existed at the start is known. */
  readonly synced: Promise<unknown>
  readonly #services: Informer<Service>
  readonly #slices: Informer<EndpointSlice>
  readonly #nodes: Informer<Node>

  constructor(informers: Pick<Informers, 'of'>, domain: string) {
    this.zone = new ClusterZone(domain)
    this.#services = informers.of(service)
    this.#slices = informers.of(endpointSlice)
    this.#nodes = informers.of(node)
    this.#services.addIndex(addressIndex, addressesOf)
    this.#services.addIndex(nodePortIndex, nodePortsOf)
    this.#slices.addIndex(serviceIndex, servicesOf)
    this.synced = Promise.all([feedZone(this.zone, informers, withoutRecords), this.#nodes.synced])
  }

  servicesAt(address: string): readonly Service[] {
    return this.#services.byIndex(addressIndex, address)
  }

  servicesAtNodePort(port: number): readonly Service[] {
    return this.#services.byIndex(nodePortIndex, String(port))
  }

  routesOf(object: Service, nodeName: string): RoutedService {
    const zone = this.#nodes.get(nodeName)?.metadata.labels?.[zoneLabel]
    return routedService(object, this.#slicesOf(keyOf(object)), { name: nodeName, zone })
  }

  /** Whether a Service has an endpoint with this address, ready or not. */
  isEndpoint(key: ObjectKey, address: string): boolean {
    return this.#slicesOf(key).some(({ endpoints }) => endpoints?.some(({ addresses }) => addresses.includes(address)))
  }

  #slicesOf(key: ObjectKey): readonly EndpointSlice[] {
    return this.#slices.byIndex(serviceIndex, key)
  }
}

/** The DNS server reports such objects; pods of the simulated network get no records of them. */
const withoutRecords = (): void => {}

const addressesOf = ({ spec, status }: Service): string[] => [
  ...new Set([
    ...(spec.clusterIPs ?? [spec.clusterIP ?? '']).filter((ip) => ip !== '' && ip !== 'None'),
    ...(spec.externalIPs ?? []),
    ...(status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []),
  ]),
]

const nodePortsOf = ({ spec: { ports = [] } }: Service): string[] => [
  ...new Set(ports.flatMap(({ nodePort = 0 }) => (nodePort === 0 ? [] : String(nodePort)))),
]

const servicesOf = (slice: EndpointSlice): string[] => {
  const name = slice.metadata.labels?.[serviceNameLabel]
  return name === undefined ? [] : [objectKey(namespaceOf(slice), name)]
}
