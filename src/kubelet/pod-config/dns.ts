// The DNS configuration of a pod: the cluster's DNS, the node's, or its own, according to its policy.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'

export interface ClusterDns {
  /** IP addresses of the cluster's DNS service; empty when there is none. */
  readonly servers: readonly string[]
  /** Empty for a cluster without a domain. */
  readonly domain: string
  /** The node's resolv.conf; undefined if the kubelet must not use one. */
  readonly node: DnsConfig | undefined
  /** The address of the node. */
  readonly nodeAddress: string
}

export interface PodDns {
  readonly config: DnsConfig
  /** Messages of DNSConfigForming events: what was left out to stay within the limits of resolvers. */
  readonly warnings: readonly string[]
}

const serversMax = 3
const searchesMax = 32
/** Some resolvers abort on a longer search path. */
const searchCharactersMax = 253
const searchLineCharactersMax = 2_048

const nothing: DnsConfig = { servers: [], searches: [], options: [] }
const noWarnings: readonly string[] = []

export function dnsOf({ metadata, spec }: Pod, cluster: ClusterDns): PodDns {
  const base = baseOf(metadata.namespace ?? '', spec.dnsPolicy, spec.hostNetwork ?? false, cluster)
  return withinLimits(spec.dnsConfig === undefined ? base : merged(base, spec.dnsConfig))
}

/** ClusterFirst on the host network means Default, and so does a cluster without DNS. */
function baseOf(namespace: string, policy: string, isHostNetwork: boolean, cluster: ClusterDns): DnsConfig {
  const { servers, domain, node = nothing } = cluster
  if (policy === 'None') return nothing
  const usesCluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !isHostNetwork)
  if (!usesCluster || servers.length === 0) return cluster.node ?? localServer(cluster.nodeAddress)
  const own = domain === '' ? [] : [`${namespace}.svc.${domain}`, `svc.${domain}`, domain]
  return {
    servers,
    searches: domain === '' ? node.searches : unique([...own, ...node.searches]),
    options: ['ndots:5'],
  }
}

/** A resolver without servers asks one on its own machine, and so do pods without the node's configuration. */
const localServer = (nodeAddress: string): DnsConfig => ({
  servers: [nodeAddress.includes(':') ? '::1' : '127.0.0.1'],
  searches: ['.'],
  options: [],
})

/** The pod's own entries follow those of its policy; an option replaces the one of the same name. */
function merged(base: DnsConfig, own: NonNullable<Pod['spec']['dnsConfig']>): DnsConfig {
  const { nameservers = [], searches = [], options = [] } = own
  const named = new Map(base.options.map((option) => [option.split(':', 1)[0] ?? option, option]))
  for (const { name = '', value = '' } of options) named.set(name, value === '' ? name : `${name}:${value}`)
  return {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: [...named.values()],
  }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

function withinLimits({ servers, searches, options }: DnsConfig): PodDns {
  const usedServers = servers.slice(0, serversMax)
  const usedSearches = searchesWithinLimits(searches)
  const warnings = [
    ...(usedServers.length < servers.length
      ? [
          `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${usedServers.join(' ')}`,
        ]
      : noWarnings),
    ...(usedSearches.length < searches.length
      ? [
          `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${usedSearches.join(' ')}`,
        ]
      : noWarnings),
  ]
  return { config: { servers: usedServers, searches: usedSearches, options }, warnings }
}

/** The first paths that fit into the line, without those that are too long themselves. */
function searchesWithinLimits(searches: readonly string[]): string[] {
  const used: string[] = []
  let characters = -1
  for (const search of searches.slice(0, searchesMax)) {
    if (search.length > searchCharactersMax) continue
    characters += search.length + 1
    if (characters > searchLineCharactersMax) break
    used.push(search)
  }
  return used
}

/** Parses the relevant lines of a resolv.conf. The last line of searches and of options counts. */
export function parseResolvConf(text: string): DnsConfig {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  const last = (word: string) => lines.findLast(([first]) => first === word)?.slice(1) ?? []
  return {
    servers: lines
      .filter(([first, server]) => first === 'nameserver' && server !== undefined)
      .map(([, server = '']) => server),
    // The same domain with and without a dot at the end counts once.
    searches: last('search').map((search) => (search === '.' ? search : search.replace(/\.$/, ''))),
    options: last('options'),
  }
}
