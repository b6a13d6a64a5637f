// The RestartAllContainers action of restart rules. The state of the runtime shows the progress: the exit that
// triggered the restart is kept until every other container has started after it.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { mayRestartAll } from '../../api/core/v1/pod/restart-rules.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { restartsAll } from './restart-policy.ts'

const none: readonly never[] = []

const ownContainers = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers]

/** The latest exit that triggered a restart of all containers. */
export function restartTrigger(pod: Pod, running: RuntimePod | undefined): RuntimeContainer | undefined {
  if (running === undefined || !mayRestartAll(pod.spec)) return undefined
  const byName = new Map(ownContainers(pod).map((container) => [container.name, container]))
  const exits = running.containers.filter(
    ({ name, state, exitCode }) => state === 'exited' && restartsAll(byName.get(name) ?? {}, exitCode),
  )
  return exits.toSorted((a, b) => a.finishedMs - b.finishedMs).at(-1)
}

/**
 * Containers that started before that exit, including its own: they are stopped if they run, and started again. So are
 * those that started for the first time while it happened, because containers are started together.
 */
export function outdatedContainers(
  pod: Pod,
  running: RuntimePod | undefined,
  trigger = restartTrigger(pod, running),
): readonly RuntimeContainer[] {
  if (trigger === undefined) return none
  const latestOf = (name: string) => running?.containers.findLast((container) => container.name === name)
  const isBeginning = latestOf(trigger.name) === trigger
  return ownContainers(pod).flatMap(({ name }) => {
    const latest = latestOf(name)
    if (latest === undefined) return []
    const isFirst = isBeginning && latest.attempt === 0 && latest.state !== 'created'
    return latest === trigger || latest.startedMs < trigger.finishedMs || isFirst ? [latest] : []
  })
}
