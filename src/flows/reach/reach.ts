// reach: whether a pod reaches another pod, a Service or an address, in sentences: what DNS and the Service do along the path,
// and which policies allow or block the traffic on both sides. It claims nothing about what it has not checked.
import { node } from '../../api/core/v1/node/node.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import { networkPolicy } from '../../api/networking/v1/network-policy.ts'
import type { ClusterReader } from '../why/explainer/cluster-reader.ts'
import { whyPod } from '../why/pods/pod-explainer.ts'
import { refusedProbes, refusedSentence, type RefusedProbe } from '../why/network/refused-probes.ts'
import { pathToAddress } from './address-path.ts'
import { ClusterMap, podAddress } from './cluster-map.ts'
import { explainPath, type Reach } from './explain-path.ts'
import { targetText, type ReachTarget } from './reach-target.ts'
import { pathToPod, pathToService, ReachTargetError, type TrafficPath } from './traffic-path.ts'

/** The namespace of the DNS server, whose Service and pods are read as well. */
const dnsNamespace = 'kube-system'

/** Throws a ReachTargetError if the target does not exist or its port is ambiguous. */
export async function reach(source: Pod, target: ReachTarget, cluster: ClusterReader): Promise<Reach> {
  const finding = await startProblems(source, cluster)
  if (finding !== undefined) return finding
  const homes = [
    ...new Set([namespaceOf(source), ...(target.kind === 'address' ? [] : [target.namespace]), dnsNamespace]),
  ]
  const everywhere = target.kind === 'address' ? [''] : homes
  const listed = async <T>(list: (home: string) => Promise<readonly T[]>): Promise<readonly T[]> =>
    (await Promise.all(everywhere.map(list))).flat()
  const [pods, services, slices, nodes, namespaces, policies] = await Promise.all([
    listed((home) => cluster.list(pod, home)),
    // An alias may lead to a Service of any namespace.
    cluster.list(service, ''),
    listed((home) => cluster.list(endpointSlice, home)),
    cluster.list(node, ''),
    cluster.list(namespace, ''),
    cluster.list(networkPolicy, ''),
  ])
  const map = new ClusterMap({ pods, services, slices, nodes, namespaces, policies })
  switch (target.kind) {
    case 'address':
      return explain(source, pathToAddress(source, target, map), map, cluster)
    case 'pod': {
      const found = pods.find((each) => isNamed(each, target))
      if (found === undefined) throw missing(target)
      if (isPodFinished(found)) return unreachable(`Pod ${keyOf(found)} has ended.`)
      const path = pathToPod(source, target, found)
      const problems = (await whyPod(found, cluster)).map(({ text }) => `Pod ${keyOf(found)}: ${text}`)
      return explain(source, { ...path, sentences: [...path.sentences, ...problems] }, map, cluster)
    }
    case 'service': {
      const found = services.find((each) => isNamed(each, target))
      if (found === undefined) throw missing(target)
      return explain(source, pathToService(source, target, found, map), map, cluster, found)
    }
    default:
      return target satisfies never
  }
}

const isNamed = (
  object: Pod | Service,
  { namespace: home, name }: { readonly namespace: string; readonly name: string },
): boolean => object.metadata.name === name && namespaceOf(object) === home

const missing = (target: Extract<ReachTarget, { name: string }>): ReachTargetError =>
  new ReachTargetError(`there is no ${target.kind} ${target.name} in the namespace ${target.namespace}`)

const unreachable = (summary: string, ...sentences: readonly string[]): Reach => ({
  verdict: 'unreachable',
  summary,
  sentences,
  unchecked: [],
  hops: [],
})

/** Why the pod cannot open connections at all. */
async function startProblems(source: Pod, cluster: ClusterReader): Promise<Reach | undefined> {
  if (isPodFinished(source)) return unreachable(`Pod ${keyOf(source)} has ended.`)
  if (podAddress(source, 'IPv4') !== undefined || podAddress(source, 'IPv6') !== undefined) return undefined
  return unreachable(
    `Pod ${keyOf(source)} has no address yet.`,
    ...(await whyPod(source, cluster)).map(({ text }) => text),
  )
}

async function explain(
  source: Pod,
  path: TrafficPath,
  map: ClusterMap,
  cluster: ClusterReader,
  throughName?: Service,
): Promise<Reach> {
  const reached = path.hops.flatMap(({ address }) => map.podAt(address) ?? [])
  const refused: RefusedProbe[] = []
  for (const [home, pods] of Map.groupBy(reached, namespaceOf))
    refused.push(...(await refusedProbes(home, pods, cluster)))
  const ports = new Set(path.hops.map(({ port }) => port))
  const silent = refused.filter(({ port }) => ports.has(port)).map(refusedSentence)
  return explainPath(source, { ...path, sentences: [...path.sentences, ...silent] }, map, throughName)
}

/** The explanation as text, with a heading. */
export function reachText(source: Pod, target: ReachTarget, { summary, sentences, unchecked }: Reach): string {
  return [
    `pod/${source.metadata.name} to ${targetText(target, namespaceOf(source))}`,
    `  ${summary}`,
    ...(sentences.length === 0 ? [] : ['', ...sentences.map((sentence) => `  ${sentence}`)]),
    ...(unchecked.length === 0 ? [] : ['', 'Not checked:', ...unchecked.map((text) => `  ${text}`)]),
    '',
  ].join('\n')
}
