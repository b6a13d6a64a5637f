// ServiceEndpoints: the addresses behind the ports of Services, from EndpointSlices. Endpoints of a Service are computed on
// first use and again after a change of the Service or its slices.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { parseIp, parseIps } from '../../base/net/ip-address.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import type { Backend } from '../routing/route.ts'

type Source<T extends ApiObject> = Pick<Informer<T>, 'get' | 'byIndex' | 'addIndex' | 'onChange' | 'all'>

export interface PortEndpoints {
  readonly endpoints: readonly Peer[]
  /** The endpoint of the next request. */
  next: number
}

const noEndpoints: readonly Peer[] = []

export class ServiceEndpoints {
  readonly #services: Source<Service>
  readonly #slices: Source<EndpointSlice>
  /** By Service and port. */
  readonly #known = new Map<ObjectKey, Map<number | string, PortEndpoints>>()

  /** `onRemoved` is called when endpoints may have been removed. */
  constructor(services: Source<Service>, slices: Source<EndpointSlice>, onRemoved: () => void) {
    this.#services = services
    this.#slices = slices
    slices.addIndex('service', (slice) => serviceKeys(slice))
    slices.addIndex('address', addressesOf)
    services.onChange(({ key }) => this.#known.delete(key))
    slices.onChange(({ now, before }) => {
      for (const slice of [now, before])
        for (const key of slice === undefined ? [] : serviceKeys(slice)) this.#known.delete(key)
      if (before !== undefined) onRemoved()
    })
  }

  of({ namespace, service, port }: Pick<Backend, 'namespace' | 'service' | 'port'>): PortEndpoints {
    const key = objectKey(namespace, service)
    const ports = getOrInsert(this.#known, key, () => new Map<number | string, PortEndpoints>())
    return getOrInsert(ports, port, () => ({ endpoints: this.#compute(key, port), next: 0 }))
  }

  /** Whether traffic may be sent to the address and port. */
  has({ address, port }: Peer): boolean {
    return this.#slices
      .byIndex('address', address)
      .some(({ ports }) => (ports ?? []).some((each) => each.port === port))
  }

  #compute(key: ObjectKey, wanted: number | string): readonly Peer[] {
    const portName = servicePort(this.#services.get(key), wanted)?.name
    if (portName === undefined) return noEndpoints
    const ready: Peer[] = []
    const last: Peer[] = []
    for (const slice of this.#slices.byIndex('service', key)) {
      const port = (slice.ports ?? []).find(({ name }) => name === portName)?.port
      if (port === undefined || slice.addressType === 'FQDN') continue
      for (const { addresses, conditions } of slice.endpoints ?? []) {
        // A name would be resolved, and lead to any address.
        const address = parseIp(addresses[0] ?? '')
        if (address === undefined) continue
        if (conditions.ready ?? true) ready.push({ address, port })
        // Endpoints that terminate but still serve are used only when nothing else is left, as the service proxy does.
        else if (conditions.serving === true && conditions.terminating === true) last.push({ address, port })
      }
    }
    return ready.length > 0 ? ready : last
  }
}

type ServicePortFields = NonNullable<Service['spec']['ports']>[number]

/** The ports of Services by number and by name; a Service may have thousands, and an Ingress a path for each. */
const portsOfServices = new WeakMap<Service, ReadonlyMap<number | string, ServicePortFields>>()

function portsOf(service: Service): ReadonlyMap<number | string, ServicePortFields> {
  const known = portsOfServices.get(service)
  if (known !== undefined) return known
  // The first of equal ports counts.
  const ports = (service.spec.ports ?? [])
    .toReversed()
    .flatMap((port) => [[port.port, port] as const, [port.name ?? '', port] as const])
  const index = new Map<number | string, ServicePortFields>(ports)
  portsOfServices.set(service, index)
  return index
}

/** The port of a Service by number or name. */
export function servicePort(service: Service | undefined, wanted: number | string) {
  const port = service === undefined ? undefined : portsOf(service).get(wanted)
  return port && { name: port.name ?? '', port: port.port, appProtocol: port.appProtocol }
}

const addressesOf = ({ endpoints }: EndpointSlice): readonly string[] =>
  parseIps((endpoints ?? []).map(({ addresses }) => addresses[0] ?? ''))

function serviceKeys(slice: EndpointSlice): ObjectKey[] {
  const name = lookup(slice.metadata.labels, serviceNameLabel)
  return name === undefined ? [] : [objectKey(namespaceOf(slice), name)]
}
