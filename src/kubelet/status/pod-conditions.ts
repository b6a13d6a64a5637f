// Pod conditions that the kubelet sets: PodReadyToStartContainers, Initialized, Ready and others.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import type { ContainerStatus, PodCondition, PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import { mayRestartAll } from '../../api/core/v1/pod/restart-rules.ts'
import { hasStarted, type ContainerStatuses } from './container-statuses.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import { isSidecar } from '../pod/restart-policy.ts'

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

const yes: Finding = { status: 'True' }

export interface ConditionsInput {
  readonly pod: Pod
  readonly phase: PodStatus['phase']
  readonly statuses: ContainerStatuses
  readonly hasSandbox: boolean
  /** All containers are being restarted. */
  readonly isRestarting: boolean
  readonly termination: PodTermination | undefined
  readonly nowMs: number
}

/** The kubelet's conditions in upstream's order, followed by those of other clients. */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const { pod, phase, statuses, hasSandbox, isRestarting, termination, nowMs } = input
  const containersReady = containersFinding(pod, phase, statuses)
  const found: [type: string, finding: Finding][] = [
    ['PodReadyToStartContainers', hasSandbox ? yes : { status: 'False' }],
    ['Initialized', initializedFinding(pod, phase, statuses)],
    ['Ready', readyFinding(pod, containersReady)],
    ['ContainersReady', containersReady],
    ['PodScheduled', yes],
  ]
  if (mayRestartAll(pod.spec)) found.push(['AllContainersRestarting', restartingFinding(phase, isRestarting)])
  if (termination?.isDisruption === true)
    found.push(['DisruptionTarget', { status: 'True', reason: 'TerminationByKubelet', message: termination.message }])
  const others = (pod.status.conditions ?? []).filter(({ type }) => !found.some(([own]) => own === type))
  return [...found.map(([type, finding]) => condition(pod, type, finding, nowMs)), ...others]
}

function condition(pod: Pod, type: string, finding: Finding, nowMs: number): PodCondition {
  const before = podCondition(pod, type)
  const lastTransitionTime = before?.status === finding.status ? before.lastTransitionTime : undefined
  const { generation } = pod.metadata
  return {
    type,
    ...finding,
    lastTransitionTime: lastTransitionTime ?? rfc3339(nowMs),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
}

/** Init containers that have not completed. */
export const incompleteInit = ({ spec }: Pod, { init, main }: ContainerStatuses): readonly ContainerStatus[] =>
  main.some(hasStarted)
    ? []
    : init.filter(({ started, ready }, index) =>
        isSidecar(spec.initContainers?.[index] ?? {}) ? started !== true : !ready,
      )

function initializedFinding(pod: Pod, phase: PodStatus['phase'], statuses: ContainerStatuses): Finding {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' }
  const incomplete = incompleteInit(pod, statuses)
  if (incomplete.length === 0) return yes
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: ${namesOf(incomplete)}`,
  }
}

function restartingFinding(phase: PodStatus['phase'], isRestarting: boolean): Finding {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  if (!isRestarting) return { status: 'False' }
  const message = 'container exited with restart policy rule'
  return { status: 'True', reason: 'RestartAllContainersStarted', message }
}

function containersFinding({ spec }: Pod, phase: PodStatus['phase'], { init, main }: ContainerStatuses): Finding {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const sidecars = init.filter((_, index) => isSidecar(spec.initContainers?.[index] ?? {}))
  const unready = [...sidecars, ...main].filter(({ ready }) => !ready)
  if (unready.length === 0) return yes
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: ${namesOf(unready)}`,
  }
}

/** All containers are ready and all readiness gates are True. */
function readyFinding(pod: Pod, containersReady: Finding): Finding {
  if (containersReady.status === 'False') return containersReady
  const unmet = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = podCondition(pod, conditionType)
    const quoted = JSON.stringify(conditionType)
    if (gate === undefined) return [`corresponding condition of pod readiness gate ${quoted} does not exist.`]
    return gate.status === 'True'
      ? []
      : [`the status of pod readiness gate ${quoted} is not "True", but ${gate.status}`]
  })
  return unmet.length === 0 ? yes : { status: 'False', reason: 'ReadinessGatesNotReady', message: unmet.join(', ') }
}

const namesOf = (statuses: readonly { readonly name: string }[]): string =>
  `[${statuses.map(({ name }) => name).join(' ')}]`
