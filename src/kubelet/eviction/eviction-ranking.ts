// Who goes first: pods that use more than they asked for before those that do not, then the less important ones, then those
// whose going frees most.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import type { contentsOf } from '../stats/disk-layout.ts'
import type { PodStats } from '../stats/summary.ts'
import type { StarvedResource } from './eviction-signals.ts'

export interface Candidate {
  readonly pod: Pod
  readonly stats: PodStats
}

/** From which priority on a pod is not evicted. */
export const criticalPriority = 2_000_000_000
const staticSource = 'kubernetes.io/config.source'

export const isCritical = ({ metadata, spec }: Pod): boolean =>
  (spec.priority ?? 0) >= criticalPriority || (metadata.annotations?.[staticSource] ?? 'api') !== 'api'

/** What counts of a pod's use of the disk: what lies on the file system that runs short. */
type DiskContents = Pick<ReturnType<typeof contentsOf>, 'node' | 'containers'>
const all: DiskContents = { node: true, containers: true }

/** The first is evicted first. */
export function rankForEviction(
  candidates: readonly Candidate[],
  resource: StarvedResource,
  lies: DiskContents = all,
): readonly Candidate[] {
  const usage = (candidate: Candidate) => beyondRequest(candidate, resource, lies)
  const priority = ({ pod }: Candidate) => pod.spec.priority ?? 0
  if (resource === 'pids')
    return candidates.toSorted((a, b) => priority(a) - priority(b) || processes(b) - processes(a))
  return candidates.toSorted(
    (a, b) => Number(usage(b) > 0) - Number(usage(a) > 0) || priority(a) - priority(b) || usage(b) - usage(a),
  )
}

const processes = ({ stats }: Candidate): number => stats.process_stats.process_count

function beyondRequest({ pod, stats }: Candidate, resource: StarvedResource, lies: DiskContents): number {
  const requests = podRequests(pod)
  switch (resource) {
    case 'memory':
      return stats.memory.workingSetBytes - (requests.get('memory') ?? 0)
    case 'ephemeral-storage':
      return diskUse(stats, lies) - (requests.get('ephemeral-storage') ?? 0)
    case 'inodes':
      return lies.containers ? stats.containers.reduce((sum, { rootfs }) => sum + rootfs.inodesUsed, 0) : 0
    case 'pids':
      return processes({ pod, stats })
    default:
      return resource satisfies never
  }
}

/** Logs and volumes lie with the node's own files, what containers write with the containers. */
function diskUse(stats: PodStats, { node, containers }: DiskContents): number {
  const layers = stats.containers.reduce((sum, { rootfs }) => sum + rootfs.usedBytes, 0)
  const others = stats['ephemeral-storage'].usedBytes - layers
  return (node ? others : 0) + (containers ? layers : 0)
}
