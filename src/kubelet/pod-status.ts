// The status of a pod, computed from what runs: phase, conditions, container statuses, as upstream computes them.
import { rfc3339 } from '../base/clock.ts'
import type { Container } from '../api/core/v1/container.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { ContainerState, ContainerStatus, PodCondition, PodStatus } from '../api/core/v1/pod-status.ts'
import type { RuntimeContainer, RuntimePod } from '../machine/runtime/runtime.ts'
import { isRestarted, latest } from './pod-actions.ts'

/** Why a container waits, where the worker knows more than the runtime. */
export type WaitReasons = ReadonlyMap<string, { readonly reason: string; readonly message: string }>

export interface StatusInput {
  readonly pod: Pod
  readonly running: RuntimePod | undefined
  readonly waiting: WaitReasons
  /** What ended containers left as their last words, by id. */
  readonly lastWords: ReadonlyMap<string, string>
  readonly hostIp: string
  /** The scheme of container ids: `containerd`. */
  readonly runtimeName: string
  readonly nowMs: number
}

export function podStatus(input: StatusInput): PodStatus {
  const { pod, running, hostIp, nowMs } = input
  const { spec, status, metadata } = pod
  const containerStatuses = spec.containers.map((container) => containerStatus(container, input))
  const initContainerStatuses = (spec.initContainers ?? []).map((container) => containerStatus(container, input))
  const isInitialized = initContainerStatuses.every(
    ({ state }) => state?.terminated?.exitCode === 0 || state?.running !== undefined,
  )
  const phase = phaseOf(pod, running, isInitialized)
  const isReady =
    phase === 'Running' && containerStatuses.every(({ ready }) => ready) && metadata.deletionTimestamp === undefined
  const unready = {
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${containerStatuses
      .filter(({ ready }) => !ready)
      .map(({ name }) => name)
      .join(' ')}]`,
  }
  const done = phase === 'Succeeded' ? { reason: 'PodCompleted' } : unready
  const conditions = [
    condition(status, 'PodReadyToStartContainers', running !== undefined, {}, nowMs),
    condition(status, 'Initialized', isInitialized, { reason: 'ContainersNotInitialized' }, nowMs),
    condition(status, 'Ready', isReady, done, nowMs),
    condition(status, 'ContainersReady', isReady, done, nowMs),
    condition(status, 'PodScheduled', true, {}, nowMs),
  ]
  const own = new Set(conditions.map(({ type }) => type))
  return {
    ...status,
    phase,
    conditions: [...conditions, ...(status.conditions ?? []).filter(({ type }) => !own.has(type))],
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...addressesOf(running, hostIp, pod),
    startTime: status.startTime ?? rfc3339(nowMs),
    ...(initContainerStatuses.length === 0 ? {} : { initContainerStatuses }),
    containerStatuses,
    observedGeneration: metadata.generation ?? 0,
  }
}

/** A pod in the node's network has the node's address. */
function addressesOf(running: RuntimePod | undefined, hostIp: string, { spec }: Pod): Partial<PodStatus> {
  const ips = spec.hostNetwork ? [hostIp] : (running?.ips ?? [])
  return running === undefined || ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }
}

function phaseOf(
  { spec, status }: Pod,
  running: RuntimePod | undefined,
  isInitialized: boolean,
): NonNullable<PodStatus['phase']> {
  if (running === undefined) return status.phase === 'Succeeded' || status.phase === 'Failed' ? status.phase : 'Pending'
  const latestOnes = spec.containers.map(({ name }) => latest(running, name))
  if (!isInitialized || latestOnes.includes(undefined)) return 'Pending'
  const seen = latestOnes.filter((container) => container !== undefined)
  if (seen.some(({ state }) => state === 'created')) return 'Pending'
  const ended = seen.filter(({ state }) => state === 'exited')
  if (ended.length < seen.length || ended.some((container) => isRestarted(container, spec.restartPolicy)))
    return 'Running'
  return ended.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed'
}

function containerStatus(
  container: Container,
  { running, waiting, lastWords, runtimeName }: StatusInput,
): ContainerStatus {
  const all = running?.containers.filter(({ name }) => name === container.name) ?? []
  const current = all.at(-1)
  const why = waiting.get(container.name)
  const isWaiting =
    current === undefined || current.state === 'created' || (current.state === 'exited' && why !== undefined)
  const state: ContainerState = isWaiting
    ? { waiting: { reason: why?.reason ?? 'ContainerCreating', ...(why?.message ? { message: why.message } : {}) } }
    : stateOf(current, runtimeName, lastWords)
  const last = isWaiting && current?.state === 'exited' ? current : all.at(-2)
  const isRunning = current?.state === 'running'
  return {
    name: container.name,
    state,
    lastState: last === undefined || last.state !== 'exited' ? {} : stateOf(last, runtimeName, lastWords),
    ready: isRunning,
    restartCount: current?.attempt ?? 0,
    image: current?.image ?? container.image ?? '',
    imageID: current?.imageId ?? '',
    ...(current === undefined ? {} : { containerID: `${runtimeName}://${current.id}` }),
    started: isRunning,
  }
}

function stateOf(
  { state, startedMs, finishedMs, exitCode, id, reason, message }: RuntimeContainer,
  runtimeName: string,
  lastWords: ReadonlyMap<string, string>,
): ContainerState {
  if (state === 'running') return { running: { startedAt: rfc3339(startedMs) } }
  const words = lastWords.get(id) || message
  return {
    terminated: {
      exitCode,
      reason: reason || (exitCode === 0 ? 'Completed' : 'Error'),
      ...(words === '' ? {} : { message: words }),
      startedAt: rfc3339(startedMs),
      finishedAt: rfc3339(finishedMs),
      containerID: `${runtimeName}://${id}`,
    },
  }
}

function condition(
  status: PodStatus,
  type: string,
  isTrue: boolean,
  otherwise: { reason?: string; message?: string },
  nowMs: number,
): PodCondition {
  const before = status.conditions?.find((candidate) => candidate.type === type)
  const value = isTrue ? 'True' : 'False'
  const lastTransitionTime = before?.status === value ? before.lastTransitionTime : undefined
  return { type, status: value, ...(isTrue ? {} : otherwise), lastTransitionTime: lastTransitionTime ?? rfc3339(nowMs) }
}
