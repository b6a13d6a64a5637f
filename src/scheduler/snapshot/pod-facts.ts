// PodFacts: what the scheduler needs to know of a pod, worked out once for each version of it.
import type { PodAffinityTerm, WeightedPodAffinityTerm } from '../../api/core/v1/affinity.ts'
import { podRequests, uncountedRequests, type Amounts } from '../../api/core/v1/requests.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { affinityTerm, type AffinityTerm, type WeightedTerm } from './affinity-term.ts'

export interface HostPort {
  readonly protocol: string
  readonly ip: string
  readonly port: number
}

export interface PodFacts {
  readonly pod: Pod
  readonly priority: number
  readonly requests: Amounts
  /** Requests in which every container counts for a little: how full a node is when it is compared. */
  readonly counted: Amounts
  readonly hostPorts: readonly HostPort[]
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  readonly preferred: readonly WeightedTerm[]
}

const known = new WeakMap<Pod, PodFacts>()

export function podFacts(pod: Pod): PodFacts {
  const facts = known.get(pod) ?? workOut(pod)
  known.set(pod, facts)
  return facts
}

function workOut(pod: Pod): PodFacts {
  const { affinity, priority = 0 } = pod.spec
  const terms = (list: readonly PodAffinityTerm[] | undefined) => (list ?? []).map((term) => affinityTerm(term, pod))
  const weighted = (list: readonly WeightedPodAffinityTerm[] | undefined, sign: number): WeightedTerm[] =>
    (list ?? [])
      .filter(({ weight }) => weight !== 0)
      .map(({ weight, podAffinityTerm }) => ({ term: affinityTerm(podAffinityTerm, pod), weight: weight * sign }))
  return {
    pod,
    priority,
    requests: podRequests(pod),
    counted: podRequests(pod, uncountedRequests),
    hostPorts: hostPortsOf(pod),
    affinity: terms(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: terms(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: [
      ...weighted(affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  }
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
