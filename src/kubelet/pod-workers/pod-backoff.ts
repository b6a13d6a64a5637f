// The backoff of a pod's actions: which must wait, when the next sync is due, and the waiting reasons of its containers.
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import { formatPod, type PodEvent } from '../events/pod-events.ts'
import { deadlineOf } from '../pod/active-deadline.ts'
import type { PodAction } from '../pod/pod-actions.ts'
import { sandboxFailure, type PodSyncState } from '../pod/pod-sync-state.ts'

/** How often a resize that is deferred or has failed is tried again. */
const resizeRetryMs = 10_000

/** The name under which failures of an action are recorded. */
const failureName = (action: PodAction): string | undefined =>
  action.kind === 'run-sandbox' ? sandboxFailure : action.kind === 'start-container' ? action.container.name : undefined

function backoffUntilMs(action: PodAction, { failures }: PodSyncState): number {
  const name = failureName(action)
  return name === undefined ? 0 : (failures.get(name)?.untilMs ?? 0)
}

export const isBackedOff = (action: PodAction, state: PodSyncState, nowMs: number): boolean =>
  action.kind === 'wait' || backoffUntilMs(action, state) > nowMs

/** Time until a backoff ends, a waiting reason changes, a deadline is reached or a resize is retried. */
export function nextSyncMs(
  pod: Pod | undefined,
  actions: readonly PodAction[],
  state: PodSyncState,
  nowMs: number,
): number | undefined {
  const { resize, termination, failures } = state
  const timesMs: number[] = []
  if (resize?.decision.kind === 'pending' || resize?.progress?.message) timesMs.push(nowMs + resizeRetryMs)
  if (pod !== undefined && termination === undefined && !isPodFinished(pod)) timesMs.push(deadlineOf(pod) ?? 0)
  for (const action of actions) {
    if (action.kind === 'wait') timesMs.push(nowMs + action.ms)
    const untilMs = backoffUntilMs(action, state)
    timesMs.push(untilMs)
    if (pod !== undefined && untilMs > nowMs)
      timesMs.push(failures.get(failureName(action) ?? sandboxFailure)?.later?.fromMs ?? 0)
  }
  const waits = timesMs.map((ms) => ms - nowMs).filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Sets the waiting reasons of containers in a backoff, and records an event when a reason has changed. */
export function updateWaitingReasons(
  pod: Pod,
  actions: readonly PodAction[],
  state: PodSyncState,
  nowMs: number,
  recordEvent: (event: PodEvent) => void,
): void {
  for (const action of actions) {
    if (action.kind === 'wait') updateCrashLoop(pod, action, state, recordEvent)
    else if (backoffUntilMs(action, state) > nowMs)
      updateFailure(failureName(action) ?? sandboxFailure, state, nowMs, recordEvent)
  }
}

function updateCrashLoop(
  pod: Pod,
  { container, backoffMs }: Extract<PodAction, { kind: 'wait' }>,
  { waiting }: PodSyncState,
  recordEvent: (event: PodEvent) => void,
): void {
  const name = formatPod(pod)
  const message = `back-off ${durationTextOfMs(backoffMs)} restarting failed container=${container} pod=${name}`
  if (waiting.get(container)?.message === message) return
  waiting.set(container, { reason: 'CrashLoopBackOff', message })
  const eventMessage = `Back-off restarting failed container ${container} in pod ${name}`
  recordEvent({ type: 'Warning', reason: 'BackOff', message: eventMessage, container })
}

function updateFailure(
  container: string,
  { failures, waiting }: PodSyncState,
  nowMs: number,
  recordEvent: (event: PodEvent) => void,
): void {
  const later = failures.get(container)?.later
  if (later === undefined || later.fromMs > nowMs || waiting.get(container)?.message === later.message) return
  const { reason, message, event } = later
  waiting.set(container, { reason, message })
  recordEvent({ type: 'Normal', reason: 'BackOff', message: event, container })
  recordEvent({ type: 'Warning', reason: 'Failed', message: `Error: ${reason}`, container })
}
