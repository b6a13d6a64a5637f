// ServiceEndpoints: the addresses behind the ports of Services, from EndpointSlices. Endpoints of a Service are computed on
// first use and again after a change of the Service or its slices.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
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

  /** `onChange` is called when endpoints may have changed. */
  constructor(services: Source<Service>, slices: Source<EndpointSlice>, onChange: () => void) {
    this.#services = services
    this.#slices = slices
    slices.addIndex('service', (slice) => serviceKeys(slice))
    services.onChange(({ key }) => {
      this.#known.delete(key)
      onChange()
    })
    slices.onChange(({ now, before }) => {
      for (const slice of [now, before])
        for (const key of slice === undefined ? [] : serviceKeys(slice)) this.#known.delete(key)
      onChange()
    })
  }

  of({ namespace, service, port }: Pick<Backend, 'namespace' | 'service' | 'port'>): PortEndpoints {
    const key = objectKey(namespace, service)
    const ports = getOrInsert(this.#known, key, () => new Map<number | string, PortEndpoints>())
    return getOrInsert(ports, port, () => ({ endpoints: this.#compute(key, port), next: 0 }))
  }

  /** Every address and port that traffic may be sent to. */
  *all(): Generator<Peer> {
    for (const slice of this.#slices.all())
      for (const { addresses } of slice.endpoints ?? [])
        for (const { port } of slice.ports ?? [])
          if (addresses[0] !== undefined && port !== undefined) yield { address: addresses[0], port }
  }

  #compute(key: ObjectKey, wanted: number | string): readonly Peer[] {
    const portName = servicePort(this.#services.get(key), wanted)?.name
    if (portName === undefined) return noEndpoints
    const [ready, last]: [Peer[], Peer[]] = [[], []]
    for (const slice of this.#slices.byIndex('service', key)) {
      const port = (slice.ports ?? []).find(({ name }) => name === portName)?.port
      if (port === undefined || slice.addressType === 'FQDN') continue
      for (const { addresses, conditions } of slice.endpoints ?? []) {
        const [address] = addresses
        if (address === undefined) continue
        if (conditions.ready ?? true) ready.push({ address, port })
        // Endpoints that terminate but still serve are used only when nothing else is left, as the service proxy does.
        else if (conditions.serving === true && conditions.terminating === true) last.push({ address, port })
      }
    }
    return ready.length > 0 ? ready : last
  }
}

/** The port of a Service by number or name. */
export function servicePort(service: Service | undefined, wanted: number | string) {
  const port = (service?.spec.ports ?? []).find((each) =>
    typeof wanted === 'number' ? each.port === wanted : each.name === wanted,
  )
  return port && { name: port.name ?? '', port: port.port, appProtocol: port.appProtocol }
}

function serviceKeys(slice: EndpointSlice): ObjectKey[] {
  const name = lookup(slice.metadata.labels, serviceNameLabel)
  return name === undefined ? [] : [objectKey(namespaceOf(slice), name)]
}
