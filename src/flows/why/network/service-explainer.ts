// Explains why a Service does not respond: no pods match, pods are not ready, a port leads nowhere, nothing listens, policies
// drop the traffic.
import { lookup } from '../../../base/collections/lookup.ts'
import { event } from '../../../api/core/v1/event.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import { isPodFinished, isPodReady } from '../../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ServicePort } from '../../../api/core/v1/service/service-spec.ts'
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../../../api/discovery/v1/endpoint-slice.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer, plural } from '../explainer/explainer.ts'
import { info, problem, problems, together, warning, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { nearestMiss } from './nearest-pod.ts'
import { whyPod } from '../pods/pod-explainer.ts'
import { refusedProbes, refusedSentence } from './refused-probes.ts'
import { policySentences } from './service-policies.ts'

/** Pods whose reasons are given; others are counted. */
const podsMax = 5

export const serviceExplainer = defineExplainer({
  kind: service,
  checked: 'its address, its pods and their ports, their network policies, its endpoints and its load balancer',
  explain: async (object, cluster) => [
    ...ownFindings(object),
    ...problems(await balancerSentences(object, cluster)),
    ...(await endpointFindings(object, cluster)),
  ],
})

const isAlias = ({ spec }: Service): boolean => spec.type === 'ExternalName'

/** What is wrong with the Service itself. */
function ownFindings({ metadata, spec }: Service): Finding[] {
  const { type, clusterIP, externalName = '' } = spec
  if (type === 'ExternalName')
    return [info(`It is a DNS alias of ${externalName}: clients connect to that name, not to pods of this cluster.`)]
  return [
    ...(metadata.deletionTimestamp === undefined
      ? []
      : [warning('It is being deleted: its endpoints are no longer updated.')]),
    ...(clusterIP === undefined ? [problem('It has no cluster IP: the API server has not allocated one.')] : []),
  ]
}

/** Events with the reason why a Service has no load balancer. */
const balancerReasons = new Set([
  'AllocationFailed',
  'PortConflict',
  'SyncLoadBalancerFailed',
  'UnAvailableLoadBalancer',
])

/** Why the Service has no load balancer: the newest event of its controller, or that it has no controller. */
async function balancerSentences(object: Service, cluster: ClusterReader): Promise<string[]> {
  const { spec, status, metadata } = object
  if (spec.type !== 'LoadBalancer' || (status.loadBalancer?.ingress ?? []).length > 0) return []
  const events = (await cluster.list(event, namespaceOf(object))).filter(
    ({ involvedObject, reason = '' }) => involvedObject.uid === metadata.uid && balancerReasons.has(reason),
  )
  const newest = events.toSorted((a, b) => (a.lastTimestamp ?? '').localeCompare(b.lastTimestamp ?? '')).at(-1)
  if (newest?.message !== undefined) return [`It has no load balancer: ${newest.message}.`]
  return spec.loadBalancerClass === undefined
    ? ['It has no load balancer: no cloud controller has assigned an address.']
    : [`It has no load balancer: the controller of class ${spec.loadBalancerClass} has not assigned an address.`]
}

async function endpointFindings(object: Service, cluster: ClusterReader): Promise<Finding[]> {
  if (isAlias(object)) return []
  const home = namespaceOf(object)
  const slices = (await cluster.list(endpointSlice, home)).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === object.metadata.name,
  )
  const wanted = Object.entries(object.spec.selector ?? {})
  if (wanted.length === 0) return unselectedFindings(slices)
  const labelText = labelsText(wanted)
  const all = await cluster.list(pod, home)
  const chosen = all.filter(({ metadata }) => wanted.every(([key, value]) => lookup(metadata.labels, key) === value))
  const live = chosen.filter((each) => !isPodFinished(each))
  if (live.length === 0)
    return chosen.length === 0
      ? unmatchedFindings(object, wanted, all)
      : [problem(`It has no endpoints: all pods with the labels ${labelText} have ended.`)]
  return [
    ...(await readinessFindings(object, live, labelText, cluster)),
    ...problems([
      ...portSentences(object, live),
      ...unlistedSentences(object, live, slices),
      ...(await listenerSentences(home, live, cluster)),
      ...(await policySentences(object, live, cluster)),
      ...(await localSentences(object, live, cluster)),
    ]),
  ]
}

/** No pod has the labels of the selector; the nearest pod shows the labels that were probably meant. */
function unmatchedFindings(
  object: Service,
  wanted: readonly (readonly [key: string, value: string])[],
  pods: readonly Pod[],
): Finding[] {
  const text = `It has no endpoints: no pod in its namespace has the labels ${labelsText(wanted)}.`
  const nearest = nearestMiss(wanted, pods)
  if (nearest === undefined) return [problem(text)]
  const { selector, sentence } = nearest
  const target = `service/${object.metadata.name}`
  const fix =
    selector.length === 0 ? undefined : kubectl(namespaceOf(object), 'set', 'selector', target, labelsText(selector))
  return [problem(text, withFix(fix)), problem(sentence)]
}

const labelsText = (labels: readonly (readonly [key: string, value: string])[]): string =>
  labels.map(([key, value]) => `${key}=${value}`).join(',')

function unselectedFindings(slices: readonly EndpointSlice[]): Finding[] {
  const count = slices.flatMap(({ endpoints }) => endpoints ?? []).length
  if (count > 0) return []
  return [
    info('It has no selector and no endpoints: it has those that a client creates as EndpointSlices or Endpoints.'),
  ]
}

const isReady = (each: Pod): boolean => isPodReady(each) && each.metadata.deletionTimestamp === undefined

async function readinessFindings(
  { spec }: Service,
  pods: readonly Pod[],
  labelText: string,
  cluster: ClusterReader,
): Promise<Finding[]> {
  const unready = pods.filter((each) => !isReady(each))
  if (unready.length === 0) return []
  const ready = pods.length - unready.length
  const count = `${ready} of ${plural(pods.length, 'pod')} with the labels ${labelText} are ready`
  const reasons: Finding[] = []
  for (const each of unready.slice(0, podsMax)) {
    const causes = (await whyPod(each, cluster)).filter(({ severity }) => severity !== 'info')
    const { text, ...cause } =
      causes.length === 0 ? warning('it is not ready; its status gives no reason.') : together(causes)
    // The pod, or its workload, has the problem; the Service only follows.
    reasons.push({ ...cause, severity: 'warning', text: `Pod ${each.metadata.name}: ${text}`, about: each })
  }
  if (unready.length > podsMax) reasons.push(warning(`${plural(unready.length - podsMax, 'more pod')} are not ready.`))
  if (spec.publishNotReadyAddresses)
    return [
      warning(`${count}; the others get traffic too, because it publishes addresses that are not ready.`),
      ...reasons,
    ]
  return [
    warning(ready === 0 ? `It has no ready endpoints: ${count}.` : `${count}; the others get no traffic.`),
    ...reasons,
  ]
}

/** Nodes that drop traffic because the policy is Local and no ready pod runs on them. */
async function localSentences({ spec }: Service, pods: readonly Pod[], cluster: ClusterReader): Promise<string[]> {
  const policies = [
    ...(spec.internalTrafficPolicy === 'Local' ? ['internal'] : []),
    ...(spec.externalTrafficPolicy === 'Local' ? ['external'] : []),
  ]
  const used = new Set(pods.filter(isReady).map((each) => each.spec.nodeName))
  if (policies.length === 0 || used.size === 0) return []
  const unused = (await cluster.list(node, '')).map(({ metadata }) => metadata.name).filter((name) => !used.has(name))
  if (unused.length === 0) return []
  const shown = unused.slice(0, podsMax).join(', ')
  const more = unused.length > podsMax ? ` and ${unused.length - podsMax} more` : ''
  return policies.map(
    (policy) =>
      `Its ${policy} traffic policy is Local: traffic that reaches ${unused.length === 1 ? 'the node' : 'the nodes'} ${shown}${more} is dropped, because no ready pod runs there.`,
  )
}

interface Declared {
  readonly name: string | undefined
  readonly containerPort: number
  readonly protocol: string
}

/** Ports of containers and of sidecars. */
const declaredBy = ({ spec }: Pod): Declared[] =>
  [...spec.containers, ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')]
    .flatMap(({ ports = [] }) => ports)
    .map(({ name, containerPort, protocol }) => ({ name, containerPort, protocol }))

/** Named target ports that a pod does not declare: such a pod is no endpoint of the port. */
function portSentences({ spec }: Service, pods: readonly Pod[]): string[] {
  return (spec.ports ?? []).flatMap((port) => {
    const { targetPort, protocol } = port
    if (typeof targetPort !== 'string') return []
    const without = pods.filter(
      (each) => !declaredBy(each).some(({ name, protocol: offered }) => name === targetPort && offered === protocol),
    )
    const [first] = without
    if (first === undefined) return []
    const who =
      without.length === pods.length ? 'no container of its pods' : `no container of pod ${first.metadata.name}`
    return [
      `${portText(port)} leads to the target port ${JSON.stringify(targetPort)}, which ${who} declares. ${declaredText(first, port)}`,
    ]
  })
}

const portText = ({ name, port, protocol }: ServicePort): string =>
  `Its port ${name === undefined ? `${port}/${protocol}` : `${name} (${port}/${protocol})`}`

function declaredText(each: Pod, { targetPort, protocol }: ServicePort): string {
  const declared = declaredBy(each)
  const other = declared.find(({ name }) => name === targetPort)
  if (other !== undefined)
    return `Pod ${each.metadata.name} declares it for ${other.protocol}, and the port of the Service is for ${protocol}.`
  if (declared.length === 0) return `Pod ${each.metadata.name} declares no ports.`
  const names = declared.map(({ name, containerPort, protocol: offered }) =>
    name === undefined ? `${containerPort}/${offered}` : `${name} (${containerPort}/${offered})`,
  )
  return `Pod ${each.metadata.name} declares ${names.join(', ')}.`
}

/** Ready pods that no EndpointSlice lists: the controller has not processed them. */
function unlistedSentences(object: Service, pods: readonly Pod[], slices: readonly EndpointSlice[]): string[] {
  if (object.metadata.deletionTimestamp !== undefined) return []
  const listed = new Set(slices.flatMap(({ endpoints }) => (endpoints ?? []).map(({ targetRef }) => targetRef?.uid)))
  const families = object.spec.ipFamilies ?? []
  const unlisted = pods.filter((each) => isReady(each) && !listed.has(each.metadata.uid))
  const [first] = unlisted
  if (first === undefined) return []
  const addresses = (first.status.podIPs ?? []).map(({ ip }) => ip)
  const hasFamily = addresses.some((ip) => families.includes(ip.includes(':') ? 'IPv6' : 'IPv4'))
  const who = plural(unlisted.length, 'ready pod')
  if (families.length > 0 && addresses.length > 0 && !hasFamily)
    return [`${who} (${first.metadata.name}) cannot be endpoints: they have no ${families.join(' or ')} address.`]
  return [
    `${who} (${first.metadata.name}) ${unlisted.length === 1 ? 'is' : 'are'} not listed in its EndpointSlices: the endpoint slice controller has not processed them yet.`,
  ]
}

/** Ports at which a probe of a pod that is not ready was refused. */
async function listenerSentences(home: string, pods: readonly Pod[], cluster: ClusterReader): Promise<string[]> {
  const unready = pods.filter((each) => !isReady(each))
  return (await refusedProbes(home, unready, cluster)).slice(0, podsMax).map(refusedSentence)
}
