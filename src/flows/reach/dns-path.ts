// DnsPath: what the name of a Service resolves to, and whether the DNS queries of a pod pass the policies.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import { recordType, type ResourceRecord } from '../../dns/message/record.ts'
import { ClusterZone } from '../../dns/records/cluster-zone.ts'
import { checkedHop, isBlocked, sideSentences, type CheckedHop } from './checked-hop.ts'
import type { ClusterMap } from './cluster-map.ts'
import { listText } from './policy-sentences.ts'
import { proxiedPath } from './service-path.ts'

/** The addresses do not depend on the domain, which no API object contains. */
const domain = 'cluster.local'

interface ResolvedName {
  /** As the pod would write it. */
  readonly name: string
  readonly addresses: readonly string[]
  /** The name outside the cluster to which an alias leads. */
  readonly outside: string | undefined
}

/** What the DNS of the cluster responds for a Service. */
function resolveService(object: Service, source: Pod, map: ClusterMap): ResolvedName {
  const home = namespaceOf(object)
  const zone = new ClusterZone(domain)
  for (const { metadata } of map.namespaces) zone.setNamespace(metadata.name, true)
  for (const each of map.services) zone.setService(undefined, each)
  for (const each of map.slicesOf(object)) zone.setEndpointSlice(undefined, each)
  const answers = [recordType.A, recordType.AAAA].map((type) =>
    zone.lookup(`${object.metadata.name}.${home}.svc.${domain}`, type),
  )
  return {
    name: home === namespaceOf(source) ? object.metadata.name : `${object.metadata.name}.${home}`,
    addresses: answers.flatMap((answer) => (answer.kind === 'records' ? addressesIn(answer.records) : [])),
    outside: answers.flatMap((answer) => (answer.kind === 'elsewhere' ? [answer.name] : []))[0],
  }
}

const addressesIn = (records: readonly ResourceRecord[]): string[] =>
  records.flatMap(({ data }) => (data.kind === 'address' ? [data.address] : []))

function resolvedSentence({ name, addresses, outside }: ResolvedName): string {
  if (outside !== undefined) return `The name ${name} is an alias of ${outside}, which is outside the cluster.`
  if (addresses.length === 0) return `The name ${name} does not exist in DNS.`
  return `The name ${name} resolves to ${listText(addresses)}.`
}

/** Undefined if the pod asks the DNS server of the cluster. */
function otherServersText(source: Pod): string | undefined {
  const { dnsPolicy, hostNetwork = false } = source.spec
  if (dnsPolicy === 'None')
    return `whether the DNS servers of the dnsConfig of pod ${keyOf(source)} know the name (its dnsPolicy is None)`
  if (dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork)) return undefined
  const why = dnsPolicy === 'Default' ? 'its dnsPolicy is Default' : 'it uses the network of its node'
  return `whether the DNS servers of the node know the name: pod ${keyOf(source)} does not ask those of the cluster, because ${why}`
}

export interface CheckedDns {
  readonly sentences: readonly string[]
  readonly unchecked: readonly string[]
  readonly checked: readonly CheckedHop[]
  /** Why the name cannot be resolved. */
  readonly problem: string | undefined
}

export const noDns: CheckedDns = { sentences: [], unchecked: [], checked: [], problem: undefined }

/** Looks up a Service as the pod does. */
export function checkedDns(source: Pod, object: Service, map: ClusterMap): CheckedDns {
  const resolved = resolvedSentence(resolveService(object, source, map))
  const other = otherServersText(source)
  if (other !== undefined) return { ...noDns, sentences: [resolved], unchecked: [other] }
  const server = map.services.find(
    (each) =>
      each.metadata.name === 'kube-dns' && namespaceOf(each) === 'kube-system' && each.spec.clusterIP !== undefined,
  )
  const port = server?.spec.ports?.find(({ protocol }) => protocol === 'UDP')
  if (server === undefined || port === undefined)
    return {
      ...noDns,
      sentences: [resolved],
      unchecked: ['whether the pod reaches a DNS server: there is no Service kube-system/kube-dns'],
    }
  const address = server.spec.clusterIP ?? ''
  const node = map.topologyOf(source.spec.nodeName ?? '')
  const path = proxiedPath(server, port, { address, kind: 'cluster IP' }, map.slicesOf(server), node)
  if (path.failure !== undefined)
    return { ...noDns, sentences: [resolved], problem: `the DNS server (${address}) has no endpoints` }
  const checked = path.chosen.map((each) => checkedHop(source, { ...each, protocol: 'UDP', isMasqueraded: false }, map))
  const blocked = checked.filter(isBlocked)
  if (blocked.length === 0)
    return { ...noDns, sentences: [`${resolved} Its queries to the DNS server pass the policies.`], checked }
  const why = new Set(
    blocked.flatMap((each) => sideSentences(source, each)).filter((sentence) => sentence.includes(' is blocked: ')),
  )
  return {
    ...noDns,
    sentences: [resolved, `Its queries to the DNS server (${address}) are blocked.`, ...why],
    checked,
    ...(blocked.length === checked.length ? { problem: 'policies block its DNS queries' } : {}),
  }
}
