// Rolling update of a DaemonSet: deletes old pods within maxUnavailable, or first creates new ones within maxSurge.
import type { DaemonSet } from '../../api/apps/v1/daemon-set.ts'
import { resolveCount } from '../../api/validation/count-or-percent.ts'
import { isPodAvailable } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { Change } from '../runtime/controller.ts'
import { podBurstOf, podsBurstMax } from '../workload/pod-burst.ts'
import { createPod, deletePod } from '../workload/pod-from-template.ts'
import { daemonPod } from './node-placement.ts'

export interface NodePods {
  readonly nodeName: string
  readonly pods: readonly Pod[]
}

export interface RollingUpdateInput {
  readonly object: DaemonSet
  readonly hash: string
  /** The nodes that should run a pod, with their pods. */
  readonly nodes: readonly NodePods[]
  readonly isUpdated: (pod: Pod) => boolean
  readonly nowMs: number
}

export const surgeOf = ({ spec }: DaemonSet, desired: number): number =>
  resolveCount(spec.updateStrategy.rollingUpdate?.maxSurge ?? 0, desired, 'up')

export function rollingUpdate(input: RollingUpdateInput): Change[] {
  const { object, nodes } = input
  const surge = surgeOf(object, nodes.length)
  if (surge > 0) return surgeUpdate(input, surge)
  const unavailable = resolveCount(object.spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 1, nodes.length, 'up')
  return replaceInPlace(input, Math.max(1, unavailable))
}

/** The old and the new pod of a node; undefined when there are several of either, which are first reduced elsewhere. */
function pair({ isUpdated }: RollingUpdateInput, pods: readonly Pod[]): { old?: Pod; fresh?: Pod } | undefined {
  const alive = pods.filter((pod) => !isBeingDeleted(pod))
  const [fresh, ...moreFresh] = alive.filter(isUpdated)
  const [old, ...moreOld] = alive.filter((pod) => !isUpdated(pod))
  if (moreFresh.length + moreOld.length > 0) return undefined
  return { ...(old === undefined ? {} : { old }), ...(fresh === undefined ? {} : { fresh }) }
}

const isAvailable = ({ object, nowMs }: RollingUpdateInput, pod: Pod): boolean =>
  isPodAvailable(pod, object.spec.minReadySeconds ?? 0, nowMs)

function replaceInPlace(input: RollingUpdateInput, unavailableMax: number): Change[] {
  let unavailable = 0
  const broken: Pod[] = []
  const candidates: Pod[] = []
  for (const { pods } of input.nodes) {
    const { old, fresh } = pair(input, pods) ?? {}
    if (old !== undefined && fresh === undefined) {
      if (isAvailable(input, old)) candidates.push(old)
      else {
        // Replacing an unavailable pod does not reduce availability.
        broken.push(old)
        unavailable++
      }
    } else if (fresh === undefined || old !== undefined || !isAvailable(input, fresh)) unavailable++
  }
  const chosen = candidates.slice(0, Math.max(0, unavailableMax - unavailable))
  return [...broken, ...chosen].slice(0, podsBurstMax).map(deletePod)
}

function surgeUpdate(input: RollingUpdateInput, surgeMax: number): Change[] {
  let surged = 0
  const done: Pod[] = []
  const broken: string[] = []
  const candidates: string[] = []
  for (const { nodeName, pods } of input.nodes) {
    const found = pair(input, pods)
    if (found === undefined) {
      surged++
      continue
    }
    const { old, fresh } = found
    if (old === undefined) continue
    if (fresh === undefined) (isAvailable(input, old) ? candidates : broken).push(nodeName)
    else if (isAvailable(input, fresh)) done.push(old)
    else surged++
  }
  const chosen = candidates.slice(0, Math.max(0, surgeMax - surged))
  const nodes = [...broken, ...chosen]
  const made = nodes
    .slice(0, nodes.length === 0 ? 0 : podBurstOf(input.object.spec.template))
    .map((name) => createPod(daemonPod(input.object, name, input.hash)))
  return [...done.slice(0, podsBurstMax).map(deletePod), ...made]
}
