// Resizer: applies changed requests and limits of a running pod if the node can provide them, in place or by restarting
// a container, as its resize policy demands.
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { cachedBySpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import { amountOf } from '../../api/core/v1/pod/pod-requests.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerRuntime, RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { linuxResources } from './linux-resources.ts'
import type { RecordCall } from '../events/record-call.ts'
import type { ResourceAmounts } from './resource-amounts.ts'
import type { PodCgroups } from './pod-cgroups.ts'
import {
  withAllocatedResources,
  withPodLimits,
  resourcesInForce,
  isPodLevelResized,
  evaluateResize,
  needsRestart,
  resizedContainers,
  type Requirements,
  type ResizeReport,
} from './resize.ts'

export interface ResizerDeps {
  readonly runtime: Pick<ContainerRuntime, 'updateResources' | 'stats'>
  readonly cgroups: PodCgroups
  readonly allocatable: ResourceAmounts
  readonly memoryCapacityBytes: number
  readonly pods: () => readonly Pod[]
  readonly call: RecordCall
}

export interface Resize extends ResizeReport {
  /** Allocated resources that are not in force yet. */
  readonly isInProgress: boolean
  /** Containers to restart. */
  readonly restarts: readonly RuntimeContainer[]
}

export class Resizer {
  readonly #deps: ResizerDeps

  constructor(deps: ResizerDeps) {
    this.#deps = deps
  }

  /** Performs the next step for a pod with requests or limits. */
  async step(pod: Pod, running: RuntimePod | undefined, context: Context): Promise<Resize> {
    const changed = running === undefined || isPodFinished(pod) ? [] : resizedContainers(pod)
    const isWholeChanged = running !== undefined && !isPodFinished(pod) && isPodLevelResized(pod)
    if (changed.length === 0 && !isWholeChanged) return this.#unchanged(pod)
    const others = this.#deps.pods().filter((other) => other.metadata.uid !== pod.metadata.uid && !isPodFinished(other))
    const decision = evaluateResize(pod, others, this.#deps.allocatable)
    if (decision.kind === 'pending') {
      const granted = withAllocatedResources(pod)
      return { ...this.#unchanged(granted), decision }
    }
    return this.#apply(pod, changed, running?.containers ?? [], context)
  }

  #unchanged(pod: Pod): Resize {
    const decision = { kind: 'granted' } as const
    const { resources: whole } = pod.spec
    const nothing = { progress: undefined, restarts: [], isInProgress: false }
    return { granted: pod, decision, resources: resourcesOf(pod), podLevel: whole, ...nothing }
  }

  async #rejectBelowUsage(
    before: Pod,
    pod: Pod,
    containers: readonly RuntimeContainer[],
    signal: AbortSignal,
  ): Promise<void> {
    const isLess = (was?: Requirements, is?: Requirements) => limitBelowUsage('', was, is, Infinity).length > 0
    const earlier = resourcesOf(before)
    const less = containersOf(pod).filter(
      (one) => isLess(earlier.get(one.name), one.resources) && !needsRestart(one, earlier.get(one.name) ?? {}),
    )
    const isWholeLess = isLess(before.spec.resources, pod.spec.resources)
    if (less.length === 0 && !isWholeLess) return
    const stats = await this.#deps.runtime.stats(signal)
    const usedBy = ({ id }: RuntimeContainer) =>
      stats.find(({ containerId }) => containerId === id)?.usage.memoryBytes ?? 0
    const live = containers.filter(({ state }) => state === 'running')
    const total = live.reduce((sum, container) => sum + usedBy(container), 0)
    const reasons = [
      ...(isWholeLess ? limitBelowUsage('pod', before.spec.resources, pod.spec.resources, total) : []),
      ...less.flatMap(({ name, resources }) =>
        live
          .filter((container) => container.name === name)
          .flatMap((one) =>
            limitBelowUsage(`container ${JSON.stringify(name)}`, earlier.get(name), resources, usedBy(one)),
          ),
      ),
    ]
    if (reasons.length > 0) throw new Error(reasons.join(', '))
  }

  /** Containers with changed resources, and those without limits of their own, whose limits are the pod's. */
  #affected(before: Pod, pod: Pod, changed: readonly Container[]): readonly Container[] {
    const limits = (container: Container, { spec }: Pod) => {
      const { cpuQuotaUs, memoryBytes } = linuxResources(container, spec, this.#deps.memoryCapacityBytes)
      return `${cpuQuotaUs} ${memoryBytes}`
    }
    return containersOf(pod).filter(
      (container) => changed.includes(container) || limits(container, before) !== limits(container, pod),
    )
  }

  async #apply(
    pod: Pod,
    changed: readonly Container[],
    containers: readonly RuntimeContainer[],
    context: Context,
  ): Promise<Resize> {
    const { runtime, cgroups, memoryCapacityBytes, call } = this.#deps
    const { signal } = context
    const before = withAllocatedResources(pod)
    const whole = pod.spec.resources
    const resources = new Map(resourcesOf(pod))
    const restarts: RuntimeContainer[] = []
    const decision = { kind: 'granted' } as const
    const isInProgress = true
    try {
      await this.#rejectBelowUsage(before, pod, containers, signal)
      // The pod's cgroup must never be smaller than its containers'.
      await cgroups.widen(before, pod)
      for (const container of this.#affected(before, pod, changed)) {
        const present = resourcesInForce(pod, container.name) ?? container.resources
        const live = containers.findLast(({ name, state }) => name === container.name && state === 'running')
        // A container that was started since has the new resources already.
        if (live === undefined || !isReported(pod, live)) continue
        const inForce = withPodLimits({ ...container, resources: present }, before).resources
        if (needsRestart(withPodLimits(container, pod), inForce)) {
          restarts.push(live)
          resources.set(container.name, present)
          continue
        }
        const limits = linuxResources(container, pod.spec, memoryCapacityBytes)
        await call(`resize container ${container.name}`, pod, context, () =>
          runtime.updateResources(live.id, limits, signal),
        )
      }
      if (restarts.length === 0) await cgroups.make(pod)
      return {
        granted: pod,
        decision,
        resources,
        podLevel: restarts.length === 0 ? whole : before.spec.resources,
        isInProgress,
        progress: restarts.length === 0 ? undefined : { message: '' },
        restarts,
      }
    } catch (error) {
      signal.throwIfAborted()
      return {
        granted: pod,
        decision,
        resources: resourcesOf(before),
        podLevel: before.spec.resources,
        isInProgress,
        progress: { message: errorText(error) },
        restarts: [],
      }
    }
  }
}

/** A memory limit below the current usage is rejected, because the kernel would kill the container. */
function limitBelowUsage(what: string, before: Requirements = {}, now: Requirements = {}, usedBytes: number): string[] {
  const limit = amountOf('memory', now.limits?.['memory'])
  const isLess = limit > 0 && limit < (amountOf('memory', before.limits?.['memory']) || Infinity)
  return isLess && usedBytes >= limit
    ? [`attempting to set ${what} memory limit (${limit}) below current usage (${usedBytes})`]
    : []
}

const isReported = ({ status }: Pod, { id }: RuntimeContainer): boolean =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(
    ({ containerID }) => containerID?.endsWith(`://${id}`) ?? false,
  )

const containersOf = ({ spec }: Pick<Pod, 'spec'>): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
]

/** Whether a pod has requests or limits. */
export const hasResources = cachedBySpec(
  (spec): boolean =>
    spec.resources !== undefined ||
    containersOf({ spec }).some(({ resources }) => resources.requests !== undefined || resources.limits !== undefined),
)

const resourcesOf = (pod: Pod): ReadonlyMap<string, Requirements> =>
  new Map(containersOf(pod).map(({ name, resources }) => [name, resources]))
