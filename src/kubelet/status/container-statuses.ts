// Container statuses of a pod, from the runtime, the state of the pod syncer, and the last reported status for
// containers that the runtime has lost.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerState, ContainerStatus } from '../../api/core/v1/pod/pod-status.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { shouldRestartInit, shouldRestart, isSidecar } from '../pod/restart-policy.ts'
import type { Waiting } from '../pod/pod-sync-state.ts'

export interface ContainersInput {
  readonly pod: Pod
  readonly running: RuntimePod | undefined
  /** Waiting reasons that the runtime does not know, by container. */
  readonly waiting: ReadonlyMap<string, Waiting>
  /** Termination messages by container id. */
  readonly terminationMessages: ReadonlyMap<string, string>
  /** Probe results of a running container. */
  readonly probeState: (container: RuntimeContainer) => { readonly isStarted: boolean; readonly isReady: boolean }
  /** The scheme of container ids, such as `containerd`. */
  readonly runtimeName: string
}

export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[]
  readonly main: readonly ContainerStatus[]
  readonly ephemeral: readonly ContainerStatus[]
}

export function containerStatuses(input: ContainersInput): ContainerStatuses {
  const { spec, status } = input.pod
  const { initContainers = [], containers, ephemeralContainers = [] } = spec
  return {
    init: initContainers.map((container) => statusOf(container, 'init', input, status.initContainerStatuses)),
    main: containers.map((container) => statusOf(container, 'main', input, status.containerStatuses)),
    ephemeral: (ephemeralContainers as readonly Container[]).map((container) =>
      statusOf(container, 'ephemeral', input, status.ephemeralContainerStatuses),
    ),
  }
}

/** Whether the container has run, even if the runtime has lost it since. */
export const hasStarted = ({ state, lastState }: ContainerStatus): boolean =>
  state?.waiting === undefined || lastState?.terminated !== undefined

/**
 * Statuses of a finished pod: no container is waiting or running. Containers of a pod that was never initialized, and
 * init containers after the last one that started, keep their state, because they were never due.
 */
export function finalStatuses({ init, main, ephemeral }: ContainerStatuses, isInitialized: boolean): ContainerStatuses {
  const ended = (one: ContainerStatus) => (one.state?.terminated === undefined ? { ...one, state: neverFound } : one)
  const initStarted = init.findLastIndex(hasStarted) + 1
  return {
    init: init.map((one, index) => (index < initStarted ? ended(one) : one)),
    main: isInitialized ? main.map(ended) : main,
    ephemeral,
  }
}

type Role = 'init' | 'main' | 'ephemeral'

function statusOf(
  container: Container,
  role: Role,
  input: ContainersInput,
  reported: readonly ContainerStatus[] | undefined,
): ContainerStatus {
  const { running, runtimeName, pod } = input
  const { name } = container
  const [current, previous] = (running?.containers.filter((one) => one.name === name) ?? []).toReversed()
  const before = reported?.find((status) => status.name === name)
  const waiting = input.waiting.get(name)
  if (current === undefined || current.state === 'created') return missingStatus(container, role, before, waiting, pod)
  const state = stateOf(current, input)
  const isWaiting = waiting !== undefined && current.state === 'exited' && willRestart(container, role, pod, current)
  const earlier = isWaiting
    ? state
    : previous?.state === 'exited'
      ? stateOf(previous, input)
      : current.attempt === before?.restartCount
        ? before.lastState
        : before?.state?.terminated === undefined
          ? before?.lastState
          : { terminated: before.state.terminated }
  const { isStarted, isReady } =
    current.state === 'running' ? input.probeState(current) : { isStarted: false, isReady: false }
  const isPlainInit = role === 'init' && !isSidecar(container)
  const { stopSignal } = container.lifecycle ?? {}
  return {
    name,
    state: isWaiting ? { waiting: waitingState(waiting) } : state,
    lastState: earlier ?? {},
    ready: isPlainInit ? current.state === 'exited' && current.exitCode === 0 : isStarted && isReady,
    restartCount: current.attempt,
    image: current.image,
    imageID: current.imageId,
    containerID: `${runtimeName}://${current.id}`,
    started: isStarted,
    // Set later to the allocated resources.
    resources: {},
    ...mountsOf(container, current),
    ...(current.user === undefined ? {} : { user: { linux: userOf(current.user) } }),
    ...(stopSignal === undefined ? {} : { stopSignal }),
  }
}

const willRestart = (container: Container, role: Role, { spec }: Pod, { exitCode }: RuntimeContainer): boolean =>
  role === 'main'
    ? shouldRestart(container, spec, exitCode)
    : role === 'init' && shouldRestartInit(container, spec, exitCode)

/** The status of a container that the runtime does not have, either not yet or not any more. */
function missingStatus(
  container: Container,
  role: Role,
  before: ContainerStatus | undefined,
  waiting: Waiting | undefined,
  { spec }: Pod,
): ContainerStatus {
  const { name, image = '' } = container
  if (before?.state?.terminated !== undefined && waiting === undefined)
    return { ...before, ready: role === 'init' && before.ready, started: false }
  const terminated = before?.state?.terminated
  const lost = before?.state?.running === undefined ? undefined : lostState
  const unknown = {
    reason: (spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating',
    message: '',
  }
  return {
    name,
    state: { waiting: waitingState(waiting ?? unknown) },
    lastState: terminated === undefined ? (lost ?? before?.lastState ?? {}) : { terminated },
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image,
    imageID: '',
    started: false,
    ...mountsOf(container),
  }
}

/** Mount statuses, including whether a read-only mount is recursive. */
function mountsOf({ volumeMounts = [] }: Container, seen?: RuntimeContainer): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {}
  // The runtime's information is preferred to the spec.
  const isDenied = (path: string, requested: string) =>
    seen?.recursivelyReadOnly?.includes(path) ?? requested !== 'Disabled'
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly = false, recursiveReadOnly = 'Disabled' }) => ({
      name,
      mountPath,
      ...(readOnly
        ? { readOnly, recursiveReadOnly: isDenied(mountPath, recursiveReadOnly) ? 'Enabled' : 'Disabled' }
        : {}),
    })),
  }
}

const userOf = ({ uid, gid, supplementalGroups }: NonNullable<RuntimeContainer['user']>) => ({
  uid,
  gid,
  ...(supplementalGroups.length === 0 ? {} : { supplementalGroups: [...supplementalGroups] }),
})

const unknownTermination = (message: string): ContainerState => ({
  terminated: { reason: 'ContainerStatusUnknown', message, exitCode: 137 },
})
const lostState = unknownTermination(
  'The container could not be located when the pod was deleted.  The container used to be Running',
)
const neverFound = unknownTermination('The container could not be located when the pod was terminated')

const waitingState = ({ reason, message }: Waiting) => ({ reason, ...(message === '' ? {} : { message }) })

function stateOf(
  { state, startedMs, finishedMs, exitCode, id, reason, message }: RuntimeContainer,
  { runtimeName, terminationMessages }: ContainersInput,
): ContainerState {
  if (state === 'running') return { running: { startedAt: rfc3339(startedMs) } }
  const words = terminationMessages.get(id) || message
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
