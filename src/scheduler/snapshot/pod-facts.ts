// PodFacts: precomputed properties of a pod. Equivalent pods share them, so that they are stored once for a thousand
// pods of a template.
import type { PodAffinityTerm, WeightedPodAffinityTerm } from '../../api/core/v1/scheduling/affinity.ts'
import { unboundSpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import { isBeingResized, podRequests, nonZeroRequests, type Amounts } from '../../api/core/v1/pod/pod-requests.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { LruMap } from '../../base/collections/lru-map.ts'
import { affinityTerm, type AffinityTerm, type WeightedTerm } from './affinity-term.ts'

export interface HostPort {
  readonly protocol: string
  readonly ip: string
  readonly port: number
}

export interface PodFacts {
  /** The same for pods with the same resource requests and host ports. */
  readonly demands: string
  readonly priority: number
  readonly requests: Amounts
  /** Requests with defaults for containers without requests. Used to compare the utilisation of nodes. */
  readonly counted: Amounts
  /** Requests an extended resource. */
  readonly requestsExtended: boolean
  readonly hostPorts: readonly HostPort[]
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  readonly preferred: readonly WeightedTerm[]
}

const ofPods = new WeakMap<Pod, PodFacts>()
/** The API server interns pod specs. No property depends on the node. */
const ofSpecs = new WeakMap<PodSpec, PodFacts>()
/** Maximum number of shared entries; pods that already have one keep it. */
const sharedMax = 1_000
const shared = new LruMap<PodFacts>(sharedMax)

export function podFacts(pod: Pod): PodFacts {
  if (!followFromSpec(pod)) return ofPods.get(pod) ?? cached(ofPods, pod, workOut(pod))
  const spec = unboundSpec(pod.spec)
  return ofSpecs.get(spec) ?? cached(ofSpecs, spec, workOut(pod))
}

/** Affinity terms depend on the pod's namespace and labels, and a resize is in the status. */
const followFromSpec = (pod: Pod): boolean =>
  pod.spec.affinity?.podAffinity === undefined &&
  pod.spec.affinity?.podAntiAffinity === undefined &&
  !isBeingResized(pod)

function cached<Key extends object>(facts: WeakMap<Key, PodFacts>, key: Key, worked: PodFacts): PodFacts {
  facts.set(key, worked)
  return worked
}

function workOut(pod: Pod): PodFacts {
  const { affinity, priority = 0 } = pod.spec
  const terms = (list: readonly PodAffinityTerm[] | undefined) => (list ?? []).map((term) => affinityTerm(term, pod))
  const weighted = (list: readonly WeightedPodAffinityTerm[] | undefined, sign: number): WeightedTerm[] =>
    (list ?? [])
      .filter(({ weight }) => weight !== 0)
      .map(({ weight, podAffinityTerm }) => ({ term: affinityTerm(podAffinityTerm, pod), weight: weight * sign }))
  const requests = podRequests(pod)
  const counted = podRequests(pod, nonZeroRequests)
  const hostPorts = hostPortsOf(pod)
  const facts: PodFacts = {
    demands: JSON.stringify([...requests, ...counted, hostPorts]),
    priority,
    requests,
    counted,
    requestsExtended: [...requests.keys()].some((name) => name.includes('/')),
    hostPorts,
    affinity: terms(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: terms(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: [
      ...weighted(affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  }
  return shared.getOrInsert(wholeKey(facts), () => facts)
}

const wholeKey = ({ demands, priority, affinity, antiAffinity, preferred }: PodFacts): string => {
  if (affinity.length + antiAffinity.length + preferred.length === 0) return `${priority} ${demands}`
  const keys = (terms: readonly AffinityTerm[]) => terms.map(({ key }) => key)
  const preferences = preferred.map(({ term, weight }) => [weight, term.key])
  return `${priority} ${demands} ${JSON.stringify([keys(affinity), keys(antiAffinity), preferences])}`
}

function hostPortsOf({ spec }: Pod): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...sidecars, ...spec.containers].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol, hostIP }) =>
      hostPort ? [{ protocol, ip: hostIP || anyAddress, port: hostPort }] : [],
    ),
  )
}

const anyAddress = '0.0.0.0'

export const portsConflict = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress)
