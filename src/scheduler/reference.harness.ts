// Reference implementation of the plugins: loops over objects, as the documentation describes them, without caches.
// Only for comparison.
import { quantityMillis, quantityUnits } from '../schema/scalar/quantity.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import { referenceDevices, referenceVolumes, type Claimed } from './reference-claims.harness.ts'

export interface World {
  readonly nodes: readonly Node[]
  readonly placed: ReadonlyMap<string, readonly Pod[]>
  /** Labels of namespaces by name. */
  readonly namespaces: Readonly<Record<string, Labels>>
  readonly claimed: Claimed
}

type Labels = Readonly<Record<string, string>>
interface Term {
  readonly topologyKey: string
  readonly labelSelector?: { readonly matchLabels?: Labels }
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: { readonly matchLabels?: Labels }
  readonly matchLabelKeys?: readonly string[]
  readonly mismatchLabelKeys?: readonly string[]
}
interface Weighted {
  readonly weight: number
  readonly podAffinityTerm: Term
}

const podsOn = ({ placed }: World, node: Node) => placed.get(node.metadata.name) ?? []
const labelsOf = (object: { metadata: { labels?: Labels } }): Labels => object.metadata.labels ?? {}
const amount = (name: string, text: string | undefined) => (name === 'cpu' ? quantityMillis(text) : quantityUnits(text))
const selected = (selector: { matchLabels?: Labels } | undefined, pod: Pod) =>
  selector !== undefined &&
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labelsOf(pod)[key] === value)

/** The maximum at any time: each init container with the sidecars before it, then all containers and sidecars. */
function request(pod: Pod, name: string, fallback = 0): number {
  const of = ({ resources }: Pod['spec']['containers'][number]) => {
    const own = resources.requests?.[name]
    return own === undefined ? fallback : amount(name, own)
  }
  let sidecars = 0
  let most = 0
  for (const container of pod.spec.initContainers ?? [])
    if (container.restartPolicy === 'Always') sidecars += of(container)
    else most = Math.max(most, sidecars + of(container))
  const running = pod.spec.containers.reduce((sum, container) => sum + of(container), sidecars)
  return Math.max(most, running) + amount(name, pod.spec.overhead?.[name])
}
const countedRequest = (pod: Pod, name: 'cpu' | 'memory') =>
  request(pod, name, { cpu: 100, memory: 200 * 1024 * 1024 }[name])

const tolerated = (pod: Pod, { key, value, effect }: { key: string; value?: string; effect: string }) =>
  (pod.spec.tolerations ?? []).some(
    (toleration) =>
      (toleration.effect === undefined || toleration.effect === effect) &&
      (toleration.key === undefined || toleration.key === key) &&
      (toleration.operator === 'Exists' || (toleration.value ?? '') === (value ?? '')),
  )

const isTainted = (pod: Pod, node: Node) =>
  (node.spec.taints ?? []).some((taint) => taint.effect !== 'PreferNoSchedule' && !tolerated(pod, taint))

interface Expression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

function holds({ key, operator, values = [] }: Expression, node: Node): boolean {
  const value = labelsOf(node)[key]
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  if (operator === 'NotIn') return value === undefined || !values.includes(value)
  if (value === undefined) return false
  if (operator === 'In') return values.includes(value)
  return operator === 'Gt' ? Number(value) > Number(values[0]) : Number(value) < Number(values[0])
}

function meansNode(pod: Pod, node: Node): boolean {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const isWanted =
    required === undefined ||
    required.nodeSelectorTerms.some(
      ({ matchExpressions = [] }) =>
        matchExpressions.length > 0 && matchExpressions.every((expression) => holds(expression, node)),
    )
  return isWanted && Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labelsOf(node)[key] === value)
}

function fitReasons(world: World, pod: Pod, node: Node): string[] {
  const others = podsOn(world, node)
  const reasons = others.length + 1 > quantityUnits(node.status.allocatable?.['pods']) ? ['Too many pods'] : []
  for (const name of ['cpu', 'memory', 'example.com/gpu']) {
    const wanted = request(pod, name)
    const used = others.reduce((sum, other) => sum + request(other, name), 0)
    if (wanted > 0 && wanted > amount(name, node.status.allocatable?.[name]) - used)
      reasons.push(`Insufficient ${name}`)
  }
  return reasons
}

function portTaken(world: World, pod: Pod, node: Node): boolean {
  const ports = (of: Pod) =>
    of.spec.containers.flatMap(({ ports: list = [] }) => list.flatMap(({ hostPort }) => hostPort ?? []))
  return podsOn(world, node).some((other) => ports(other).some((port) => ports(pod).includes(port)))
}

interface Counted {
  readonly labelSelector?: { readonly matchLabels?: Labels }
  readonly matchLabelKeys?: readonly string[]
}

/** Adds requirements for the owner's values of these labels. Labels that it does not have are ignored. */
const sharesKeys = (pod: Pod, owner: Pod, keys: readonly string[] = []) =>
  keys.every((key) => labelsOf(owner)[key] === undefined || labelsOf(pod)[key] === labelsOf(owner)[key])

const counts = (pod: Pod, own: Pod, { labelSelector, matchLabelKeys }: Counted) =>
  pod.metadata.namespace === own.metadata.namespace &&
  pod.metadata.deletionTimestamp === undefined &&
  selected(labelSelector, pod) &&
  sharesKeys(pod, own, matchLabelKeys)

function spreadReason(world: World, pod: Pod, node: Node): string | undefined {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    (each) => each.whenUnsatisfiable === 'DoNotSchedule',
  )
  const included = world.nodes.filter((each) =>
    constraints.every(({ topologyKey }) => labelsOf(each)[topologyKey] !== undefined),
  )
  for (const constraint of constraints) {
    const { topologyKey, maxSkew, minDomains = 1 } = constraint
    const own = labelsOf(node)[topologyKey]
    if (own === undefined) return "node(s) didn't match pod topology spread constraints (missing required label)"
    const byDomain = new Map<string, number>()
    for (const each of included) {
      if (constraint.nodeAffinityPolicy !== 'Ignore' && !meansNode(pod, each)) continue
      if (constraint.nodeTaintsPolicy === 'Honor' && isTainted(pod, each)) continue
      const domain = labelsOf(each)[topologyKey] ?? ''
      const meant = podsOn(world, each).filter((other) => counts(other, pod, constraint)).length
      byDomain.set(domain, (byDomain.get(domain) ?? 0) + meant)
    }
    const least = byDomain.size < minDomains ? 0 : Math.min(...byDomain.values())
    const self = counts(pod, pod, constraint) ? 1 : 0
    if ((byDomain.get(own) ?? 0) + self - least > maxSkew) return "node(s) didn't match pod topology spread constraints"
  }
  return undefined
}

function means({ namespaces }: World, term: Term, owner: Pod, pod: Pod): boolean {
  const namespace = pod.metadata.namespace ?? ''
  const own = term.namespaces ?? (term.namespaceSelector === undefined ? [owner.metadata.namespace] : [])
  const isChosen = Object.entries(term.namespaceSelector?.matchLabels ?? {}).every(
    ([key, value]) => namespaces[namespace]?.[key] === value,
  )
  return (
    (own.includes(namespace) || (term.namespaceSelector !== undefined && isChosen)) &&
    selected(term.labelSelector, pod) &&
    sharesKeys(pod, owner, term.matchLabelKeys) &&
    (term.mismatchLabelKeys ?? []).every(
      (key) => labelsOf(owner)[key] === undefined || labelsOf(pod)[key] !== labelsOf(owner)[key],
    )
  )
}
const sharesDomain = (a: Node, b: Node, key: string) =>
  labelsOf(a)[key] !== undefined && labelsOf(a)[key] === labelsOf(b)[key]
const requiredNear = (pod: Pod) =>
  (pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Term[]
const requiredAway = (pod: Pod) =>
  (pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Term[]
const preferences = (pod: Pod): { term: Term; weight: number }[] => [
  ...(
    (pod.spec.affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Weighted[]
  ).map(({ weight, podAffinityTerm }) => ({ term: podAffinityTerm, weight })),
  ...(
    (pod.spec.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Weighted[]
  ).map(({ weight, podAffinityTerm }) => ({ term: podAffinityTerm, weight: -weight })),
]

function affinityReason(world: World, pod: Pod, node: Node): string | undefined {
  const all = world.nodes.flatMap((at) => podsOn(world, at).map((other) => ({ at, other })))
  const near = requiredNear(pod)
  const matching = all.filter(({ other }) => near.every((term) => means(world, term, pod, other)))
  const known = matching.filter(({ at }) => near.some(({ topologyKey }) => labelsOf(at)[topologyKey] !== undefined))
  const hasKeys = near.every(({ topologyKey }) => labelsOf(node)[topologyKey] !== undefined)
  const isWith = near.every(({ topologyKey }) => matching.some(({ at }) => sharesDomain(at, node, topologyKey)))
  const isFirst = known.length === 0 && near.every((term) => means(world, term, pod, pod))
  if (near.length > 0 && !(hasKeys && (isWith || isFirst))) return "node(s) didn't match pod affinity rules"
  const conflicts = requiredAway(pod).some((term) =>
    all.some(({ at, other }) => means(world, term, pod, other) && sharesDomain(at, node, term.topologyKey)),
  )
  if (conflicts) return "node(s) didn't match pod anti-affinity rules"
  const isRejected = all.some(({ at, other }) =>
    requiredAway(other).some((term) => means(world, term, other, pod) && sharesDomain(at, node, term.topologyKey)),
  )
  return isRejected ? "node(s) didn't satisfy existing pods anti-affinity rules" : undefined
}

/** The reasons of the first plugin that rejects the node, or undefined. */
export function referenceVerdict(world: World, pod: Pod, node: Node): string | undefined {
  if (node.spec.unschedulable && !tolerated(pod, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }))
    return 'node(s) were unschedulable'
  if (pod.spec.nodeName !== undefined && pod.spec.nodeName !== node.metadata.name)
    return "node(s) didn't match the requested node name"
  if (isTainted(pod, node)) return 'node(s) had untolerated taint(s)'
  if (!meansNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector"
  if (portTaken(world, pod, node)) return "node(s) didn't have free ports for the requested pod ports"
  const reasons = fitReasons(world, pod, node)
  if (reasons.length > 0) return reasons.join(', ')
  const everywhere = world.nodes.flatMap((each) => podsOn(world, each))
  return (
    referenceVolumes(world.claimed, pod, node, podsOn(world, node), everywhere) ??
    spreadReason(world, pod, node) ??
    affinityReason(world, pod, node) ??
    referenceDevices(world.claimed, pod, node)
  )
}

const scaled = (raw: readonly number[], isReversed: boolean) => {
  const most = Math.max(0, ...raw)
  return raw.map((score) => {
    const share = most === 0 ? 0 : Math.floor((score * 100) / most)
    return isReversed ? 100 - share : share
  })
}

const shares = (world: World, node: Node, extra: (name: 'cpu' | 'memory') => number) =>
  (['cpu', 'memory'] as const).flatMap((name) => {
    const whole = amount(name, node.status.allocatable?.[name])
    const used = podsOn(world, node).reduce((sum, other) => sum + request(other, name), 0)
    return whole === 0 ? [] : [Math.min(1, (used + extra(name)) / whole)]
  })

const balanceOf = (list: readonly number[]) =>
  Math.trunc((1 - (list.length === 2 ? Math.abs((list[0] ?? 0) - (list[1] ?? 0)) / 2 : 0)) * 100)

function spreadScores(world: World, pod: Pod, nodes: readonly Node[]): number[] | undefined {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    (each) => each.whenUnsatisfiable === 'ScheduleAnyway',
  )
  if (constraints.length === 0) return undefined
  const hasKeys = (node: Node) => constraints.every(({ topologyKey }) => labelsOf(node)[topologyKey] !== undefined)
  const scoring = nodes.filter(hasKeys)
  const raw = nodes.map((node) => {
    if (!hasKeys(node)) return undefined
    let sum = 0
    for (const constraint of constraints) {
      const { topologyKey, maxSkew, nodeAffinityPolicy, nodeTaintsPolicy } = constraint
      const isHost = topologyKey === 'kubernetes.io/hostname'
      const domains = new Set(scoring.map((each) => labelsOf(each)[topologyKey]))
      const inDomain = isHost
        ? [node]
        : world.nodes.filter(
            (each) =>
              hasKeys(each) &&
              sharesDomain(each, node, topologyKey) &&
              (nodeAffinityPolicy === 'Ignore' || meansNode(pod, each)) &&
              (nodeTaintsPolicy !== 'Honor' || !isTainted(pod, each)),
          )
      const meant = inDomain.flatMap((each) => podsOn(world, each)).filter((other) => counts(other, pod, constraint))
      sum += meant.length * Math.log((isHost ? scoring.length : domains.size) + 2) + maxSkew - 1
    }
    return Math.round(sum)
  })
  const valid = raw.filter((score) => score !== undefined)
  const least = Math.min(...valid)
  const most = Math.max(0, ...valid)
  return raw.map((score) =>
    score === undefined ? 0 : most === 0 ? 100 : Math.floor((100 * (most + least - score)) / most),
  )
}

function affinityScores(world: World, pod: Pod, nodes: readonly Node[]): number[] | undefined {
  const all = world.nodes.flatMap((at) => podsOn(world, at).map((other) => ({ at, other })))
  const weighted = [
    ...preferences(pod).flatMap(({ term, weight }) =>
      all
        .filter(({ other }) => means(world, term, pod, other))
        .map(({ at }) => ({ at, key: term.topologyKey, weight })),
    ),
    ...all.flatMap(({ at, other }) => [
      ...requiredNear(other)
        .filter((term) => means(world, term, other, pod))
        .map(({ topologyKey: key }) => ({ at, key, weight: 1 })),
      ...preferences(other)
        .filter(({ term }) => means(world, term, other, pod))
        .map(({ term, weight }) => ({ at, key: term.topologyKey, weight })),
    ]),
  ]
  if (!weighted.some(({ at, key }) => labelsOf(at)[key] !== undefined)) return undefined
  const raw = nodes.map((node) =>
    weighted.reduce((sum, { at, key, weight }) => sum + (sharesDomain(at, node, key) ? weight : 0), 0),
  )
  const least = Math.min(...raw)
  const most = Math.max(...raw)
  return raw.map((score) => (most === least ? 0 : Math.trunc(100 * ((score - least) / (most - least)))))
}

/** The size of the pod's images on the node, each weighted by the share of nodes that have it. */
function imageScores(world: World, pod: Pod, nodes: readonly Node[]): number[] | undefined {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  const sizeOn = (node: Node, image = '') =>
    Number(
      node.status.images?.find(({ names }) => names?.includes(image.includes(':') ? image : `${image}:latest`))
        ?.sizeBytes ?? 0,
    )
  const spread = (image?: string) => world.nodes.filter((node) => sizeOn(node, image) > 0).length / world.nodes.length
  if (containers.every(({ image }) => spread(image) === 0)) return undefined
  const least = 23 * 1024 * 1024
  const most = 1000 * 1024 * 1024 * containers.length
  return nodes.map((node) => {
    const sum = containers.reduce((total, { image }) => total + Math.trunc(sizeOn(node, image) * spread(image)), 0)
    return Math.floor((100 * (Math.min(Math.max(sum, least), most) - least)) / (most - least))
  })
}

/** Each plugin's scores of these nodes, without plugins that do not score. */
export function referenceScores(world: World, pod: Pod, nodes: readonly Node[]): Record<string, readonly number[]> {
  const soft = nodes.map(
    (node) =>
      (node.spec.taints ?? []).filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerated(pod, taint)).length,
  )
  const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const images = imageScores(world, pod, nodes)
  const liked = nodes.map((node) =>
    preferred.reduce(
      (sum, { weight, preference }) =>
        sum + ((preference.matchExpressions ?? []).every((expression) => holds(expression, node)) ? weight : 0),
      0,
    ),
  )
  const least = nodes.map((node) => {
    const each = (['cpu', 'memory'] as const).flatMap((name) => {
      const whole = amount(name, node.status.allocatable?.[name])
      const used = [...podsOn(world, node), pod].reduce((sum, other) => sum + countedRequest(other, name), 0)
      return whole === 0 ? [] : [used > whole ? 0 : Math.floor(((whole - used) * 100) / whole)]
    })
    return each.length === 0 ? 0 : Math.floor(each.reduce((a, b) => a + b, 0) / each.length)
  })
  const asks = request(pod, 'cpu') + request(pod, 'memory') > 0
  const balanced = nodes.map((node) => {
    const change =
      balanceOf(shares(world, node, (name) => request(pod, name))) - balanceOf(shares(world, node, () => 0))
    return 50 + Math.trunc((50 + change) / 2)
  })
  const spread = spreadScores(world, pod, nodes)
  const affinity = affinityScores(world, pod, nodes)
  return {
    TaintToleration: scaled(soft, true),
    ...(preferred.length > 0 && { NodeAffinity: scaled(liked, false) }),
    NodeResourcesFit: least,
    ...(spread && { PodTopologySpread: spread }),
    ...(affinity && { InterPodAffinity: affinity }),
    ...(images && { ImageLocality: images }),
    ...(asks && { NodeResourcesBalancedAllocation: balanced }),
  }
}
