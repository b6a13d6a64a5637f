// Resizer: puts changed requests and limits of a running pod into force where the node has them: in place, or by starting
// a container anew where its policy says so.
import type { Context } from '../../base/context.ts'
import { errorText } from '../../base/log.ts'
import type { Container } from '../../api/core/v1/container.ts'
import { isPodFinished } from '../../api/core/v1/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import type { ContainerRuntime, RuntimeContainer, RuntimePod } from '../../machine/runtime/runtime.ts'
import { limitsOf } from '../pod-config/limits.ts'
import type { ResourceAmounts } from './allocatable.ts'
import type { PodCgroups } from './pod-cgroups.ts'
import {
  asGranted,
  inForce,
  judgeResize,
  needsRestart,
  resized,
  type Requirements,
  type ResizeReport,
} from './resize.ts'

export interface ResizerParts {
  readonly runtime: Pick<ContainerRuntime, 'updateResources'>
  readonly cgroups: PodCgroups
  readonly allocatable: ResourceAmounts
  readonly memoryCapacityBytes: number
  readonly pods: () => readonly Pod[]
}

export interface Resize extends ResizeReport {
  /** Containers that must start anew. */
  readonly restarts: readonly RuntimeContainer[]
}

export class Resizer {
  readonly #parts: ResizerParts

  constructor(parts: ResizerParts) {
    this.#parts = parts
  }

  /** Undefined when the pod has nothing that could be resized. */
  async step(pod: Pod, running: RuntimePod | undefined, context: Context): Promise<Resize | undefined> {
    if (!hasResources(pod)) return undefined
    const changed = running === undefined || isPodFinished(pod) ? [] : resized(pod)
    if (changed.length === 0) return this.#settled(pod)
    const others = this.#parts
      .pods()
      .filter((other) => other.metadata.uid !== pod.metadata.uid && !isPodFinished(other))
    const verdict = judgeResize(pod, others, this.#parts.allocatable)
    if (verdict.kind === 'pending') {
      const granted = asGranted(pod)
      return { granted, verdict, resources: resourcesOf(granted), progress: undefined, restarts: [] }
    }
    return this.#enforce(pod, changed, running?.containers ?? [], context)
  }

  #settled(pod: Pod): Resize {
    const verdict = { kind: 'granted' } as const
    return { granted: pod, verdict, resources: resourcesOf(pod), progress: undefined, restarts: [] }
  }

  async #enforce(
    pod: Pod,
    changed: readonly Container[],
    containers: readonly RuntimeContainer[],
    { signal }: Context,
  ): Promise<Resize> {
    const { runtime, cgroups, memoryCapacityBytes } = this.#parts
    const before = asGranted(pod)
    const resources = new Map(resourcesOf(pod))
    const restarts: RuntimeContainer[] = []
    const verdict = { kind: 'granted' } as const
    try {
      // The pod's group must never be smaller than what is in it.
      await cgroups.widen(before, pod)
      for (const container of changed) {
        const present = inForce(pod, container.name) ?? container.resources
        const live = containers.findLast(({ name, state }) => name === container.name && state === 'running')
        // One that was started since has what is granted.
        if (live === undefined || !isTold(pod, live)) continue
        if (needsRestart(container, present)) {
          restarts.push(live)
          resources.set(container.name, present)
        } else await runtime.updateResources(live.id, limitsOf(container, pod.spec, memoryCapacityBytes), signal)
      }
      if (restarts.length === 0) await cgroups.make(pod)
      return {
        granted: pod,
        verdict,
        resources,
        progress: restarts.length === 0 ? undefined : { message: '' },
        restarts,
      }
    } catch (error) {
      signal.throwIfAborted()
      return {
        granted: pod,
        verdict,
        resources: resourcesOf(before),
        progress: { message: errorText(error) },
        restarts: [],
      }
    }
  }
}

const isTold = ({ status }: Pod, { id }: RuntimeContainer): boolean =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(
    ({ containerID }) => containerID?.endsWith(`://${id}`) ?? false,
  )

const containersOf = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers]

const hasResources = (pod: Pod): boolean =>
  containersOf(pod).some(({ resources }) => resources.requests !== undefined || resources.limits !== undefined)

const resourcesOf = (pod: Pod): ReadonlyMap<string, Requirements> =>
  new Map(containersOf(pod).map(({ name, resources }) => [name, resources]))
