// Columns of pods: the number of ready containers, a summary of the state, and restarts.
import { ageText } from '../../../columns/age.ts'
import type { Container } from '../container/container.ts'
import { isPodFinished, isPodReady, podCondition, schedulingGated, type PodSpecAndStatus } from './pod-readiness.ts'
import type { ContainerStatus } from './pod-status.ts'

interface ContainerView {
  /** Init containers up to the one that blocks the pod; later ones are not counted. */
  readonly inits: readonly ContainerStatus[]
  /** The sidecars among them, which keep running beside the containers. */
  readonly sidecars: readonly ContainerStatus[]
  /** The init container that blocks the pod, and the number of those before it. */
  readonly held: { readonly status: ContainerStatus; readonly before: number } | undefined
  readonly isInitializing: boolean
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

function viewOf(pod: PodSpecAndStatus): ContainerView {
  const { initContainerStatuses: all = [] } = pod.status
  const names = new Set((pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  const before = all.findIndex(
    ({ name, state, started }) => state.terminated?.exitCode !== 0 && !(names.has(name) && started === true),
  )
  const status = all[before]
  const inits = status === undefined ? all : all.slice(0, before + 1)
  return {
    inits,
    sidecars: inits.filter(({ name }) => names.has(name)),
    held: status && { status, before },
    isInitializing: status !== undefined && podCondition(pod, 'Initialized')?.status !== 'True',
  }
}

const runsReady = ({ state, ready }: ContainerStatus): boolean => ready && state.running !== undefined

/** `1/2`: ready containers of all; sidecars count. */
export function podReadyText(pod: PodSpecAndStatus): string {
  const { sidecars, isInitializing } = viewOf(pod)
  const own = isInitializing ? [] : (pod.status.containerStatuses ?? []).filter(runsReady)
  const beside = sidecars.filter(({ ready, started, state }) => ready && started === true && !state.terminated)
  const total = pod.spec.containers.length + (pod.spec.initContainers ?? []).filter(isSidecar).length
  return `${own.length + beside.length}/${total}`
}

/** `2 (5s ago)`: restarts of init containers while they block the pod, then of containers and sidecars. */
export function podRestartsText(pod: PodSpecAndStatus, nowMs: number): string {
  const { inits, sidecars, isInitializing } = viewOf(pod)
  const counted = isInitializing ? inits : [...sidecars, ...(pod.status.containerStatuses ?? [])]
  const restarts = counted.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const ends = counted.flatMap(({ lastState }) => lastState.terminated?.finishedAt ?? [])
  const last = ends.toSorted().at(-1)
  return restarts === 0 || last === undefined ? String(restarts) : `${restarts} (${ageText(last, nowMs)} ago)`
}

/** The STATUS column: a summary of phase, reason and container states. */
export function podStatusText(pod: PodSpecAndStatus): string {
  const { status, metadata } = pod
  if (metadata.deletionTimestamp !== undefined && status.reason === 'NodeLost') return 'Unknown'
  if (metadata.deletionTimestamp !== undefined && !isPodFinished(pod)) return 'Terminating'
  const isGated = podCondition(pod, 'PodScheduled')?.reason === schedulingGated
  const own = isGated ? schedulingGated : (status.reason ?? status.phase ?? 'Unknown')
  const { held, isInitializing } = viewOf(pod)
  const text = held === undefined ? own : initText(held.status, held.before, pod.spec.initContainers?.length ?? 0)
  return isInitializing ? text : containersText(pod, text)
}

function initText({ state }: ContainerStatus, before: number, all: number): string {
  if (state.terminated !== undefined) return `Init:${endText(state.terminated)}`
  const { reason = '' } = state.waiting ?? {}
  return reason === '' || reason === 'PodInitializing' ? `Init:${before}/${all}` : `Init:${reason}`
}

/** The first container that is waiting or terminated determines the text. */
function containersText(pod: PodSpecAndStatus, otherwise: string): string {
  const all = pod.status.containerStatuses ?? []
  const words = all.flatMap(({ state }) =>
    state.waiting?.reason ? state.waiting.reason : state.terminated ? endText(state.terminated) : [],
  )
  const text = words[0] ?? otherwise
  if (text === 'Completed' && all.some(runsReady)) return isPodReady(pod) ? 'Running' : 'NotReady'
  return text
}

const endText = ({ reason, signal, exitCode }: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>) =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`)

/** The number of readiness gates whose conditions are true. */
export function podGatesText(pod: PodSpecAndStatus): string {
  const gates = pod.spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => podCondition(pod, conditionType)?.status === 'True')
  return `${open.length}/${gates.length}`
}
