// The DNS configuration of a pod: the cluster's DNS, the node's, or its own, according to its policy.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'

export interface ClusterDns {
  /** IP addresses of the cluster's DNS service; empty when there is none. */
  readonly servers: readonly string[]
  readonly domain: string
  /** The node's resolv.conf. */
  readonly node: DnsConfig
}

const searchesMax = 32
const serversMax = 3
const nothing: DnsConfig = { servers: [], searches: [], options: [] }

export function dnsOf({ metadata, spec }: Pod, cluster: ClusterDns): DnsConfig {
  const base = baseOf(metadata.namespace ?? '', spec.dnsPolicy, spec.hostNetwork ?? false, cluster)
  // Fast path: most pods have no dnsConfig, and the node's configuration is within the limits.
  if (spec.dnsConfig === undefined && isPlain(base)) return base
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {}
  const named = new Map(base.options.map((option) => [option.split(':')[0] ?? option, option]))
  for (const { name = '', value } of options) named.set(name, value === undefined ? name : `${name}:${value}`)
  return {
    servers: [...new Set([...base.servers, ...nameservers])].slice(0, serversMax),
    searches: [...new Set([...base.searches, ...searches])].slice(0, searchesMax),
    options: [...named.values()],
  }
}

/** Whether a base configuration needs neither deduplication nor truncation. */
const isPlain = ({ servers, searches, options }: DnsConfig): boolean =>
  servers.length < 2 && searches.length < 2 && options.length < 2

function baseOf(namespace: string, policy: string, isHostNetwork: boolean, cluster: ClusterDns): DnsConfig {
  const { servers, domain, node } = cluster
  if (policy === 'None') return nothing
  const usesCluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !isHostNetwork)
  if (!usesCluster || servers.length === 0) return node
  return {
    servers,
    searches: [`${namespace}.svc.${domain}`, `svc.${domain}`, domain, ...node.searches],
    options: ['ndots:5'],
  }
}

/** Parses the relevant lines of a resolv.conf. */
export function parseResolvConf(text: string): DnsConfig {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  const last = (word: string) => lines.findLast(([first]) => first === word)?.slice(1) ?? []
  return {
    servers: lines.filter(([first]) => first === 'nameserver').map(([, server = '']) => server),
    searches: last('search'),
    options: last('options'),
  }
}
