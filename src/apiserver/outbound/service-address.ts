// serviceAddress: the address of a webhook's Service, which is one of its ready endpoints.
import { joinHostPort } from '../../base/net/host-port.ts'
import type { ServiceReference } from '../../api/admissionregistration/v1/webhook-client-config.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'

/** `host:port`. The endpoint is used instead of the cluster IP, because nothing may route Service traffic yet. */
export function serviceAddress({ namespace, name, port }: ServiceReference, reads: ObjectLister): string {
  const found = reads.get(service, namespace, name)
  if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
  if (found.spec.type === 'ExternalName') return `${found.spec.externalName}:${port}`
  const offered = (found.spec.ports ?? []).find((each) => each.port === port)
  if (offered === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  for (const { metadata, endpoints, ports } of reads.list(endpointSlice, namespace)) {
    if (metadata.labels?.[serviceNameLabel] !== name) continue
    const at = ports?.find((each) => (each.name ?? '') === (offered.name ?? ''))?.port
    const address = endpoints?.find(({ conditions }) => conditions?.ready !== false)?.addresses[0]
    if (at !== undefined && address !== undefined) return joinHostPort(address, at)
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
}
