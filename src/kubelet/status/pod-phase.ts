// The phase of a pod, computed from its container statuses.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerStatus, PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import type { ContainerStatuses } from './container-statuses.ts'
import { shouldRestartInit, shouldRestart, isSidecar } from '../pod/restart-policy.ts'

type Phase = NonNullable<PodStatus['phase']>

/** `isEnding`: no container will be restarted; `isRestarting`: all will be. A final phase does not change. */
export function podPhase(
  { spec, status }: Pod,
  { init, main }: ContainerStatuses,
  isEnding: boolean,
  isRestarting: boolean,
): Phase {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return status.phase
  if (isRestarting && !isEnding) return status.phase ?? 'Pending'
  const plain = init.filter((_, index) => !isSidecar(spec.initContainers?.[index] ?? {}))
  const sidecars = init.filter((one) => !plain.includes(one))
  const ended = main.filter((one) => terminationOf(one) !== undefined)
  const hasStarted = ended.length > 0 || main.some(({ state }) => state?.running !== undefined)
  if (spec.restartPolicy === 'Never' && plain.some((one) => hasFailed(one, spec))) return 'Failed'
  const isRunning = (one: ContainerStatus) => one.state?.running !== undefined
  if (!isEnding) {
    const isBlocked =
      plain.some((one) => terminationOf(one) === undefined) ||
      (!hasStarted && sidecars.some((one) => terminationOf(one) === undefined && one.started !== true))
    if (isBlocked || [...sidecars, ...main].some((one) => !isRunning(one) && terminationOf(one) === undefined))
      return 'Pending'
  }
  if ([...sidecars, ...main].some(isRunning)) return 'Running'
  if (!isEnding && ended.length === 0) return 'Pending'
  const codes = main.map((one) => one.state?.terminated?.exitCode)
  const willRestart = main.some((one, index) => {
    const container = spec.containers[index]
    return container !== undefined && shouldRestart(container, spec, terminationOf(one)?.exitCode ?? 0)
  })
  if (willRestart && !isEnding) return 'Running'
  return codes.every((code) => code === 0) ? 'Succeeded' : 'Failed'
}

const hasFailed = (one: ContainerStatus, spec: Pod['spec']): boolean => {
  const { exitCode = 0 } = terminationOf(one) ?? {}
  const container = spec.initContainers?.find(({ name }) => name === one.name)
  return exitCode !== 0 && !shouldRestartInit(container ?? {}, spec, exitCode)
}

/** The last termination, also while the container waits for its restart. */
const terminationOf = ({ state, lastState }: ContainerStatus) =>
  state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated)
