// Restarts of all of a pod's containers, which the exit of one of them may ask for. What runs tells how far that is: the exit
// that asked for it is kept until every other container has begun after it.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { mayRestartAll } from '../../api/core/v1/pod/restart-rules.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { restartsAll } from './restart-policy.ts'

const none: readonly never[] = []

const ownContainers = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers]

/** The last exit that asked for it. */
export function restartTrigger(pod: Pod, running: RuntimePod | undefined): RuntimeContainer | undefined {
  if (running === undefined || !mayRestartAll(pod.spec)) return undefined
  const byName = new Map(ownContainers(pod).map((container) => [container.name, container]))
  const exits = running.containers.filter(
    ({ name, state, exitCode }) => state === 'exited' && restartsAll(byName.get(name) ?? {}, exitCode),
  )
  return exits.toSorted((a, b) => a.finishedMs - b.finishedMs).at(-1)
}

/** Containers that began before the exit, which is one of them: they end, where they have not, and start again. */
export function outdatedContainers(
  pod: Pod,
  running: RuntimePod | undefined,
  trigger = restartTrigger(pod, running),
): readonly RuntimeContainer[] {
  if (trigger === undefined) return none
  return ownContainers(pod).flatMap(({ name }) => {
    const seen = running?.containers.findLast((container) => container.name === name)
    return seen !== undefined && (seen === trigger || seen.startedMs < trigger.finishedMs) ? [seen] : []
  })
}
