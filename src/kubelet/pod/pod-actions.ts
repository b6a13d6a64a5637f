// Computes the next actions for a pod from its spec and its observed state. Pure; the pod syncer executes them.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../api/core/v1/pod/pod-status.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { outdatedContainers, restartTrigger } from './restart-all.ts'
import {
  crashBackoffOf,
  crashBackoffRemainingMs,
  shouldRestartInit,
  shouldRestart,
  isSidecar,
  restartsAll,
  type CrashBackoff,
} from './restart-policy.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

export type PodAction =
  | { readonly kind: 'run-sandbox' }
  | ContainerStart
  /** Stopped concurrently, in the order given by `after`. */
  | { readonly kind: 'stop-containers'; readonly stops: readonly ContainerStop[] }
  /** Created but never started because the start was aborted, or an old attempt that is no longer needed. */
  | { readonly kind: 'remove-container'; readonly container: RuntimeContainer }
  /** Nothing will run in it again; its exited containers can still be inspected. */
  | { readonly kind: 'stop-sandbox'; readonly sandboxId: string }
  /** `isLost`: the pod continues in a new sandbox. */
  | { readonly kind: 'remove-sandbox'; readonly sandboxId: string; readonly isLost?: boolean }
  /** Everything has stopped: the API object can be deleted. */
  | { readonly kind: 'release-pod' }
  /** A backoff is in effect; sync again when it is over. */
  | { readonly kind: 'wait'; readonly ms: number; readonly container: string; readonly backoffMs: number }

export interface ContainerStart {
  readonly kind: 'start-container'
  readonly container: Container
  readonly attempt: number
  /** When its previous attempt exited; undefined for the first. */
  readonly finishedMs: number | undefined
  /** The container whose PID namespace an ephemeral container joins. */
  readonly targetId?: string
}

export interface ContainerStop {
  readonly container: RuntimeContainer
  /** From the pod's spec; undefined when the pod is no longer known. */
  readonly spec: Container | undefined
  readonly graceSeconds: Int64
  /** The message of the event. */
  readonly message: string
  /** Names of the containers that must stop before this one. */
  readonly after: readonly string[]
}

/** Results of probes. */
export interface ContainerHealth {
  /** Whether its startup probe has succeeded, or it has none. */
  isStarted(container: RuntimeContainer): boolean
  /** The probe because of which it must be restarted. */
  failedProbe(container: RuntimeContainer): 'liveness' | 'startup' | undefined
}

export interface RunInput {
  readonly pod: Pod
  readonly running: RuntimePod | undefined
  readonly crashBackoffs: ReadonlyMap<string, CrashBackoff>
  /** Ids of containers that were stopped to be restarted. */
  readonly restarting?: ReadonlySet<string>
  readonly health: ContainerHealth
  readonly nowMs: number
}

interface FullInput extends RunInput {
  /** Containers that are restarted because of a RestartAllContainers rule. */
  readonly old: readonly RuntimeContainer[]
}

/** The latest attempt of a container. */
export const latestContainer = (running: RuntimePod | undefined, name: string): RuntimeContainer | undefined =>
  running?.containers.findLast((container) => container.name === name)

/** Terminates a pod: its containers, then its sandbox, then its API object. */
export function planTermination(
  pod: Pod | undefined,
  running: RuntimePod | undefined,
  graceSeconds: Int64,
  isReleased: boolean,
): PodAction[] {
  if (running === undefined) return isReleased ? [{ kind: 'release-pod' }] : []
  const actions = endContainers(pod, running, graceSeconds)
  return actions.length > 0 ? actions : [{ kind: 'remove-sandbox', sandboxId: running.sandboxId }]
}

/** Completes a finished or failed pod: running containers are stopped; exited ones are kept for inspection. */
export function planCompletion(
  pod: Pod,
  running: RuntimePod | undefined,
  graceSeconds: Int64 = pod.spec.terminationGracePeriodSeconds,
): PodAction[] {
  if (running === undefined) return []
  const actions = endContainers(pod, running, graceSeconds)
  if (actions.length > 0) return actions
  return running.isReady ? [{ kind: 'stop-sandbox', sandboxId: running.sandboxId }] : []
}

/** A restart that puts a resize into force. */
export const resizeRestart = (pod: Pod, container: RuntimeContainer): ContainerStop => ({
  container,
  spec: containersOf(pod).find(({ name }) => name === container.name),
  graceSeconds: pod.spec.terminationGracePeriodSeconds,
  message: `Container ${container.name} resize requires restart`,
  after: [],
})

/** Stops all containers of a pod; empty when all have stopped. */
function endContainers(pod: Pod | undefined, running: RuntimePod, graceSeconds: Int64): PodAction[] {
  const stops = stopAll(pod, running, graceSeconds)
  return [...removeUnstarted(running), ...(stops.length > 0 ? [{ kind: 'stop-containers', stops } as const] : [])]
}

/** A container that was created and never started is removed: a stop request has no effect on it. */
const removeUnstarted = ({ containers }: RuntimePod): PodAction[] =>
  containers.filter(({ state }) => state === 'created').map((container) => ({ kind: 'remove-container', container }))

/** Sidecars stop after the other containers, in reverse order. */
function stopAll(pod: Pod | undefined, running: RuntimePod, graceSeconds: Int64): ContainerStop[] {
  const alive = running.containers.filter(({ state }) => state === 'running')
  const sidecars = (pod?.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name)
  const others = alive.map(({ name }) => name).filter((name) => !sidecars.includes(name))
  return alive.map((container) => {
    const rank = sidecars.indexOf(container.name)
    return {
      container,
      spec: pod === undefined ? undefined : containersOf(pod).find(({ name }) => name === container.name),
      graceSeconds,
      message: `Stopping container ${container.name}`,
      after: rank === -1 ? [] : [...others, ...sidecars.slice(rank + 1)],
    }
  })
}

export const containersOf = ({ spec }: Pick<Pod, 'spec'>): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  // Ephemeral containers have the same fields, and a target container.
  ...((spec.ephemeralContainers ?? []) as readonly Container[]),
]

export function planRun(request: RunInput): PodAction[] {
  const { pod, running } = request
  const trigger = restartTrigger(pod, running)
  const old = outdatedContainers(pod, running, trigger)
  const input = { ...request, old }
  if (isFinished(input)) return planCompletion(pod, running)
  if (running === undefined) return [{ kind: 'run-sandbox' }]
  if (!running.isReady) {
    // The exit statuses of its containers are reported before the sandbox and they are removed.
    const { sandboxId } = running
    const actions = endContainers(pod, running, pod.spec.terminationGracePeriodSeconds)
    return actions.length > 0 ? actions : [{ kind: 'remove-sandbox', sandboxId, isLost: true }]
  }
  const unstarted = removeUnstarted(running)
  if (unstarted.length > 0) return unstarted
  const immediateStops = old.length === 0 ? [] : stopAll(pod, { ...running, containers: old }, 0)
  if (immediateStops.length > 0)
    return [{ kind: 'stop-containers', stops: immediateStops.map((stop) => ({ ...stop, after: [] })) }]
  const stops = containersToStop(input, running)
  if (stops.length > 0) return [{ kind: 'stop-containers', stops }]
  const { actions, isDone } = initialize(input, running)
  return [
    ...oldAttempts(running, trigger).map((container) => ({ kind: 'remove-container', container }) as const),
    ...startEphemeral(pod, running),
    ...actions,
    ...(isDone ? pod.spec.containers.flatMap((container) => planStart(container, input, shouldRestart)) : []),
  ]
}

/** Old attempts: of each container the latest two are kept, and the exit that triggered a restart of all. */
const oldAttempts = ({ containers }: RuntimePod, trigger: RuntimeContainer | undefined): RuntimeContainer[] =>
  containers.length <= attemptsKept
    ? []
    : containers.filter(
        (one, index) =>
          one !== trigger &&
          containers.filter((later, at) => at > index && later.name === one.name).length >= attemptsKept,
      )
const attemptsKept = 2

/** Whether the pod has finished: all containers have exited for good, or an init container has failed for good. */
function isFinished(input: FullInput): boolean {
  const { running } = input
  const { spec, status } = input.pod
  const ended = (
    container: Container,
    statuses: readonly ContainerStatus[] | undefined,
    restarts: typeof shouldRestart,
  ) => {
    const last = lastEnd(container.name, running, statuses)
    if (isStartedAgain(latestContainer(running, container.name), input)) return undefined
    return last !== undefined && !restarts(container, spec, last.exitCode) ? last : undefined
  }
  const initFailed = (spec.initContainers ?? []).some((container) => {
    const last = ended(container, status.initContainerStatuses, shouldRestartInit)
    return last !== undefined && last.exitCode !== 0
  })
  return (
    (initFailed && !hasMainStarted(input)) ||
    spec.containers.every((container) => ended(container, status.containerStatuses, shouldRestart) !== undefined)
  )
}

interface End {
  readonly attempt: number
  readonly exitCode: number
  readonly finishedMs: number
}

const lostExitCode = 137

/**
 * The last exit of a container; undefined while it runs or if it never ran. The status is used when the runtime has
 * lost it.
 */
function lastEnd(
  name: string,
  running: RuntimePod | undefined,
  statuses: readonly ContainerStatus[] | undefined,
): End | undefined {
  const current = latestContainer(running, name)
  if (current !== undefined) return current.state === 'exited' ? current : undefined
  const reported = statuses?.find((status) => status.name === name)
  if (reported === undefined) return undefined
  const { restartCount: attempt, state, lastState } = reported
  if (state?.running !== undefined) return { attempt, exitCode: lostExitCode, finishedMs: 0 }
  const terminated = state?.terminated ?? lastState?.terminated
  if (terminated === undefined) return undefined
  return { attempt, exitCode: terminated.exitCode, finishedMs: Date.parse(terminated.finishedAt ?? '') || 0 }
}

/** Running containers that must be stopped: a probe has failed, or the image in the spec has changed. */
function containersToStop({ pod, health }: RunInput, running: RuntimePod): ContainerStop[] {
  const { spec } = pod
  return [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].flatMap((container) => {
    const current = latestContainer(running, container.name)
    if (current?.state !== 'running') return []
    const probe = health.failedProbe(current)
    const cause =
      probe !== undefined
        ? `failed ${probe} probe`
        : current.image === container.image
          ? undefined
          : 'definition changed'
    if (cause === undefined) return []
    // A killed container counts as failed, whatever its exit code is.
    const isComing = probe === undefined || shouldRestart(container, spec, lostExitCode)
    const ownGrace = probe === undefined ? undefined : container[`${probe}Probe`]?.terminationGracePeriodSeconds
    return [
      {
        container: current,
        spec: container,
        graceSeconds: ownGrace ?? spec.terminationGracePeriodSeconds,
        message: `Container ${container.name} ${cause}${isComing ? ', will be restarted' : ''}`,
        after: [],
      },
    ]
  })
}

/** Ephemeral containers are started at any time, even during initialization, and never restarted. */
const startEphemeral = ({ spec, status }: Pod, running: RuntimePod): ContainerStart[] =>
  (spec.ephemeralContainers ?? [])
    .filter(({ name }) => lastEnd(name, running, status.ephemeralContainerStatuses) === undefined)
    .filter(({ name }) => latestContainer(running, name) === undefined)
    .map((container) => {
      const target = latestContainer(running, container.targetContainerName ?? '')
      return {
        kind: 'start-container',
        container,
        attempt: 0,
        finishedMs: undefined,
        ...(target === undefined ? {} : { targetId: target.id }),
      }
    })

/** Whether a main container has started; those that are being restarted do not count. */
const hasMainStarted = ({ pod, running, old }: FullInput): boolean =>
  pod.spec.containers.some(({ name }) => {
    const current = latestContainer(running, name)
    return current !== undefined && !old.includes(current)
  })

const isStartedAgain = (current: RuntimeContainer | undefined, { restarting, old }: FullInput): boolean =>
  current !== undefined && (old.includes(current) || restarting?.has(current.id) === true)

/**
 * Init containers run one after the other. Each must succeed, or have started if it is a sidecar, before the next one
 * starts. After the main containers have started, only sidecars are restarted.
 */
function initialize(input: FullInput, running: RuntimePod): { actions: PodAction[]; isDone: boolean } {
  const { pod, health, old } = input
  const hasStarted = hasMainStarted(input)
  const actions: PodAction[] = []
  for (const container of pod.spec.initContainers ?? []) {
    const current = latestContainer(running, container.name)
    const isRunning = current?.state === 'running'
    if (isSidecar(container)) {
      if (isRunning && (hasStarted || health.isStarted(current))) continue
    } else if (hasStarted || (current?.state === 'exited' && current.exitCode === 0 && !old.includes(current))) continue
    if (!isRunning) actions.push(...planStart(container, input, shouldRestartInit))
    if (!hasStarted) return { actions, isDone: false }
  }
  return { actions, isDone: true }
}

function planStart(container: Container, input: FullInput, restarts: typeof shouldRestart): PodAction[] {
  const { pod, running, crashBackoffs, nowMs } = input
  const { spec, status } = pod
  const { name } = container
  const current = latestContainer(running, name)
  if (current !== undefined && current.state !== 'exited') return []
  const last = lastEnd(name, running, [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
  if (last === undefined) return [{ kind: 'start-container', container, attempt: 0, finishedMs: undefined }]
  // The container that triggered the restart of all is subject to the crash backoff.
  if (isStartedAgain(current, input) && !restartsAll(container, last.exitCode))
    return [{ kind: 'start-container', container, attempt: last.attempt + 1, finishedMs: undefined }]
  // In a new sandbox init containers run again; otherwise their restart policy decides.
  const isInit = restarts === shouldRestartInit
  if (!restarts(container, spec, last.exitCode) && !(isInit && current === undefined)) return []
  const backoff = crashBackoffOf(crashBackoffs, container)
  const ms = crashBackoffRemainingMs(backoff, last.finishedMs, nowMs)
  if (ms > 0) return [{ kind: 'wait', ms, container: name, backoffMs: backoff?.waitMs ?? ms }]
  return [{ kind: 'start-container', container, attempt: last.attempt + 1, finishedMs: last.finishedMs }]
}
