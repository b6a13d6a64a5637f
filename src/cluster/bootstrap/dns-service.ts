// The Service `kube-dns` in `kube-system`, through which pods reach the DNS server of this process.
import { addressAt, cidrSize, type Cidr } from '../../base/net/cidr.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Context } from '../../base/observability/context.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { Client } from '../../client/client.ts'
import { createIfMissing, createOrPatch } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

const ours = { name: 'kube-dns', namespace: 'kube-system' }
/** As upstream's installers choose it. */
const addressIndex = 10n

export const dnsPort = 53

/** The tenth address of a range of Services; undefined if the range is too small, so that the server chooses one. */
export const dnsServiceAddress = (serviceRange: Cidr): IpAddress | undefined =>
  cidrSize(serviceRange) > addressIndex ? addressAt(serviceRange, addressIndex) : undefined

const role = 'coxswain:dns'

/** Allows the DNS server to read what it serves. */
export async function bindDns(client: Client, user: string, context: Context): Promise<void> {
  const verbs = ['list', 'watch']
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'services'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ]
  await grant(client, { role, rules, user }, context)
}

const ports = [
  { name: 'dns', protocol: 'UDP' as const },
  { name: 'dns-tcp', protocol: 'TCP' as const },
]

/** Where the DNS server listens. */
export interface DnsAddress {
  readonly host: string
  readonly port: number
}

/**
 * Publishes the address of the DNS server. A Service with a selector belongs to another DNS server that a user has
 * installed: it is not changed, and the result is false.
 */
export async function publishDnsService(
  client: Client,
  { host, port }: DnsAddress,
  serviceRange: Cidr,
  context: Context,
): Promise<boolean> {
  const address = dnsServiceAddress(serviceRange)
  await createIfMissing(
    client,
    service,
    {
      metadata: {
        ...ours,
        labels: { 'k8s-app': ours.name, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
      },
      spec: {
        ...(address === undefined ? {} : { clusterIP: address }),
        ports: ports.map((each) => ({ ...each, port: dnsPort, targetPort: dnsPort })),
      },
    },
    context,
  )
  const { spec } = await client.of(service).get(ours.name, ours.namespace, context)
  if (Object.keys(spec.selector ?? {}).length > 0) return false
  await createOrPatch(
    client,
    endpointSlice,
    {
      metadata: { ...ours, labels: { [serviceNameLabel]: ours.name } },
      addressType: familyOf(host),
      endpoints: [{ addresses: [host], conditions: { ready: true } }],
      ports: ports.map((each) => ({ ...each, port })),
    },
    context,
  )
  return true
}
