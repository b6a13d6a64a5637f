// The order of eviction: pods that exceed their requests first, then lower priority, then higher usage.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import type { contentsOf } from '../stats/disk-layout.ts'
import type { PodStats } from '../stats/summary.ts'
import type { StarvedResource } from './eviction-signals.ts'

export interface Candidate {
  readonly pod: Pod
  readonly stats: PodStats
}

/** Pods with this priority or more are critical and not evicted. */
export const criticalPriority = 2_000_000_000
const staticSource = 'kubernetes.io/config.source'

export const isCritical = ({ metadata, spec }: Pod): boolean =>
  (spec.priority ?? 0) >= criticalPriority || (metadata.annotations?.[staticSource] ?? 'api') !== 'api'

/** Which parts of a pod's disk usage count: those on the file system that is short. */
type DiskContents = Pick<ReturnType<typeof contentsOf>, 'node' | 'containers'>
const all: DiskContents = { node: true, containers: true }

/** Sorts candidates; the first is evicted first. */
export function rankForEviction(
  candidates: readonly Candidate[],
  resource: StarvedResource,
  contents: DiskContents = all,
): readonly Candidate[] {
  const usage = (candidate: Candidate) => beyondRequest(candidate, resource, contents)
  const priority = ({ pod }: Candidate) => pod.spec.priority ?? 0
  if (resource === 'pids')
    return candidates.toSorted((a, b) => priority(a) - priority(b) || processes(b) - processes(a))
  return candidates.toSorted(
    (a, b) => Number(usage(b) > 0) - Number(usage(a) > 0) || priority(a) - priority(b) || usage(b) - usage(a),
  )
}

const processes = ({ stats }: Candidate): number => stats.process_stats.process_count

function beyondRequest({ pod, stats }: Candidate, resource: StarvedResource, contents: DiskContents): number {
  const requests = podRequests(pod)
  switch (resource) {
    case 'memory':
      return stats.memory.workingSetBytes - (requests.get('memory') ?? 0)
    case 'ephemeral-storage':
      return diskUse(stats, contents) - (requests.get('ephemeral-storage') ?? 0)
    case 'inodes':
      return contents.containers ? stats.containers.reduce((sum, { rootfs }) => sum + rootfs.inodesUsed, 0) : 0
    case 'pids':
      return processes({ pod, stats })
    default:
      return resource satisfies never
  }
}

/** Logs and volumes are on the node's file system, writable layers on that of the containers. */
function diskUse(stats: PodStats, { node, containers }: DiskContents): number {
  const layers = stats.containers.reduce((sum, { rootfs }) => sum + rootfs.usedBytes, 0)
  const others = stats['ephemeral-storage'].usedBytes - layers
  return (node ? others : 0) + (containers ? layers : 0)
}
