// Resolves names as a pod's resolver does: search paths and ndots of its DNS configuration, then the cluster's zone. Names
// outside the zone are those of the hosts that a test has added.
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'
import { NetworkError } from '../../machine/network/network-error.ts'
import { recordType } from '../../dns/message/record.ts'
import type { ClusterZone, ZoneAnswer } from '../../dns/records/cluster-zone.ts'

export interface ResolverDeps {
  readonly zone: Pick<ClusterZone, 'lookup'>
  /** The address of the cluster's DNS server. A resolver that does not use it does not know the cluster's names. */
  readonly clusterServer: string
  /** The addresses of a name outside the cluster; undefined if it does not exist. */
  readonly outside: (name: string) => readonly string[] | undefined
}

const ndotsDefault = 1

/** The absolute names that are tried, in order, in lower case and without the final dot. */
export function candidateNames(name: string, { searches, options }: DnsConfig): readonly string[] {
  const lower = name.toLowerCase()
  if (lower.endsWith('.')) return [lower.slice(0, -1)]
  const ndots = Number(
    options.findLast((option) => option.startsWith('ndots:'))?.slice('ndots:'.length) ?? ndotsDefault,
  )
  const searched = searches.map((search) => `${lower}.${search.toLowerCase().replace(/\.$/, '')}`)
  return lower.split('.').length - 1 >= ndots ? [lower, ...searched] : [...searched, lower]
}

/** The addresses of a name. Throws a NetworkError when it does not exist. */
export function resolveName(name: string, config: DnsConfig, deps: ResolverDeps): readonly string[] {
  const [server = 'no server'] = config.servers
  const usesCluster = config.servers.includes(deps.clusterServer)
  for (const candidate of candidateNames(name, config)) {
    const addresses = usesCluster ? inZone(candidate, deps) : (deps.outside(candidate) ?? [])
    if (addresses === 'failed')
      throw new NetworkError('EAI_AGAIN', `lookup ${name} on ${server}:53: server misbehaving`)
    if (addresses.length > 0) return addresses
  }
  throw new NetworkError('ENOTFOUND', `lookup ${name} on ${server}:53: no such host`)
}

function inZone(name: string, { zone, outside }: ResolverDeps): readonly string[] | 'failed' {
  const found: string[] = []
  for (const type of [recordType.A, recordType.AAAA]) {
    const answer: ZoneAnswer = zone.lookup(name, type)
    switch (answer.kind) {
      case 'records':
        for (const { data } of answer.records) if (data.kind === 'address') found.push(data.address)
        break
      case 'elsewhere':
        return outside(answer.name) ?? []
      case 'alias-loop':
        return 'failed'
      case 'no-data':
      case 'no-name':
        break
      default:
        return answer satisfies never
    }
  }
  return found
}
