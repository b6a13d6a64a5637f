// PodSyncer: brings one pod to its desired state: plans actions, executes them until none is left, and reports the status.
// Its state can be lost: everything that matters is read again from the runtime and the API.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { DeferredTask } from '../../base/work/deferred-task.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { ContainerRuntime, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import type { PodProvisioner } from '../container/pod-provisioner.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { PodAdmitter } from '../node/pod-admitter.ts'
import { hasExpired } from '../pod/active-deadline.ts'
import { planCompletion, planRun, planTermination, resizeRestart, type PodAction } from '../pod/pod-actions.ts'
import { PodProgress } from '../pod/pod-progress.ts'
import type { PodSyncState, PodSyncStates } from '../pod/pod-sync-state.ts'
import { resizeEvents } from '../pod/resize-events.ts'
import type { ProbeManager } from '../probes/probe-manager.ts'
import { hasResources, type Resize, type Resizer } from '../resources/resizer.ts'
import type { PodStatusManager } from '../status/pod-status-manager.ts'
import type { PodActionExecutor, PodTarget } from './pod-action-executor.ts'
import { isBackedOff, nextSyncMs, updateWaitingReasons } from './pod-backoff.ts'

export interface PodSyncerDeps {
  readonly runtime: Pick<ContainerRuntime, 'inspect'>
  readonly states: PodSyncStates
  readonly provisioner: Pick<PodProvisioner, 'removePodData'>
  readonly probes: ProbeManager
  readonly statusManager: PodStatusManager
  readonly executor: PodActionExecutor
  readonly resizer: Resizer
  readonly admitter: PodAdmitter
  readonly recordEvent: RecordPodEvent
  readonly clock: Clock
  readonly hostIp: string
}

/** Grace period of a pod that is no longer in the API. */
const orphanGraceSeconds = 1

/**
 * When the status is reported: now, when nothing is left to do, or before a sandbox is removed, because its containers are
 * unknown afterwards; soon, at the beginning of a sync, unless a later report replaces it.
 */
function urgencyOf(round: number, due: readonly PodAction[]): 'now' | 'soon' | 'never' {
  if (due.length === 0 || due.some(({ kind }) => kind === 'remove-sandbox')) return 'now'
  return round === 0 && !releasesPod(due) ? 'soon' : 'never'
}

const releasesPod = (due: readonly PodAction[]): boolean => due.some(({ kind }) => kind === 'release-pod')

/** The watch may be behind the response to the last status update. */
const newerPod = (observed: Pod, written: Pod | undefined): Pod =>
  written !== undefined && Number(written.metadata.resourceVersion) > Number(observed.metadata.resourceVersion)
    ? written
    : observed

export class PodSyncer {
  readonly #deps: PodSyncerDeps
  /** Reports the status of pods whose containers are being stopped, by uid. */
  readonly #reportOfStopping = new Map<string, () => void>()

  constructor(deps: PodSyncerDeps) {
    this.#deps = deps
  }

  /**
   * Brings the pod to its desired state; `undefined` when it is no longer in the API. Returns the time until the next sync.
   * `onInspect` is called each time before the state of the runtime is read.
   */
  async sync(
    uid: string,
    observed: Pod | undefined,
    context: Context,
    onInspect: () => void = () => {},
  ): Promise<number | undefined> {
    const { states, provisioner, probes } = this.#deps
    const state = states.of(uid)
    if (observed !== undefined && !state.isAdmitted) await this.#admit(observed, state, context)
    const { pod, againMs } = await this.#run(uid, observed, state, context, onInspect)
    if (pod === undefined) {
      states.delete(uid)
      probes.removePod(uid)
    }
    if (observed === undefined) await provisioner.removePodData(uid, context)
    return state.reportInMs === undefined ? againMs : Math.min(againMs ?? state.reportInMs, state.reportInMs)
  }

  /**
   * A pod that is synced now reports the result at the end of the sync. While its containers are being stopped, which
   * takes up to the grace period, it reports at once: a pod that is not ready gets no more traffic.
   */
  probeResultChanged(uid: string): void {
    this.#reportOfStopping.get(uid)?.()
  }

  /** Executes actions until none is due; returns the pod as it is then, undefined when it is gone. */
  async #run(
    uid: string,
    observed: Pod | undefined,
    state: PodSyncState,
    context: Context,
    onInspect: () => void,
  ): Promise<{ readonly pod: Pod | undefined; readonly againMs: number | undefined }> {
    const { runtime, clock, statusManager } = this.#deps
    const progress = new PodProgress()
    let pod = observed && newerPod(observed, state.lastWritten)
    let early: DeferredTask<Pod | undefined> | undefined
    try {
      for (let round = 0; ; round++) {
        onInspect()
        const running = await runtime.inspect(uid, context.signal)
        if (pod !== undefined) await this.#update(pod, running, state, context)
        const actions = this.#plan(pod, running, state)
        const due = actions.filter((action) => !isBackedOff(action, state, clock.nowMs()))
        const againMs = this.#nextSyncMs(pod, actions, state, context)
        const urgency = urgencyOf(round, due)
        if (urgency === 'now') {
          const reported = await early?.end()
          early = undefined
          if (reported !== undefined) pod = reported.result
        }
        if (pod !== undefined && urgency !== 'never') {
          const current = pod
          const report = () => statusManager.report(current, running, state, context)
          if (urgency === 'now') pod = await report()
          else early = new DeferredTask(clock, report)
        }
        if (due.length === 0) return { pod, againMs }
        progress.check(due)
        for (const action of due) await this.#execute(action, { uid, pod, running, state }, early, context)
        pod = pod && newerPod(pod, state.lastWritten)
        if (releasesPod(due)) return { pod, againMs }
      }
    } finally {
      await early?.end()
    }
  }

  async #execute(
    action: PodAction,
    target: PodTarget,
    early: DeferredTask<Pod | undefined> | undefined,
    context: Context,
  ): Promise<void> {
    const { executor, statusManager } = this.#deps
    const { uid, pod, running, state } = target
    if (action.kind !== 'stop-containers' || pod === undefined) return executor.execute(action, target, context)
    let reports: Promise<unknown> = Promise.resolve()
    const report = async () => {
      await early?.end()
      return statusManager.report(newerPod(pod, state.lastWritten), running, state, context)
    }
    // A report that fails is repeated by the sync.
    this.#reportOfStopping.set(uid, () => void (reports = reports.then(report).catch(() => undefined)))
    try {
      await executor.execute(action, target, context)
    } finally {
      this.#reportOfStopping.delete(uid)
      await reports
    }
  }

  /** Checks the admission of a pod once. Pods that an earlier kubelet has started are not rejected any more. */
  async #admit(pod: Pod, state: PodSyncState, context: Context): Promise<void> {
    const hasStarted = isBeingDeleted(pod) || isPodFinished(pod) || pod.status.startTime !== undefined
    const rejection = hasStarted ? undefined : await this.#deps.admitter.rejection(pod, context)
    state.isAdmitted = true
    if (rejection === undefined) return
    state.termination ??= { ...rejection, isRejection: true }
    this.#deps.recordEvent(pod, { type: 'Warning', ...rejection }, context)
  }

  /** What depends on the state of the runtime: the deadline, the probes and a resize. */
  async #update(pod: Pod, running: RuntimePod | undefined, state: PodSyncState, context: Context): Promise<void> {
    const { probes, hostIp } = this.#deps
    this.#checkDeadline(pod, state, context)
    probes.updatePod(pod, running, hostIp)
    if (state.resize !== undefined || hasResources(pod.spec))
      state.resize = await this.#resize(pod, running, state, context)
  }

  /** Terminates a pod whose active deadline is exceeded. */
  #checkDeadline(pod: Pod, state: PodSyncState, context: Context): void {
    const { clock, recordEvent } = this.#deps
    if (state.termination !== undefined || isBeingDeleted(pod) || isPodFinished(pod)) return
    if (!hasExpired(pod, clock.nowMs())) return
    const reason = 'DeadlineExceeded'
    const message = 'Pod was active on the node longer than the specified deadline'
    state.termination = { reason, message }
    recordEvent(pod, { type: 'Normal', reason, message }, context)
  }

  async #resize(
    pod: Pod,
    running: RuntimePod | undefined,
    { resize: before }: PodSyncState,
    context: Context,
  ): Promise<Resize | undefined> {
    const { resizer, recordEvent } = this.#deps
    const resize = hasResources(pod.spec) ? await resizer.step(pod, running, context) : undefined
    for (const event of resizeEvents(before, resize, pod)) recordEvent(pod, event, context)
    return resize
  }

  #plan(pod: Pod | undefined, running: RuntimePod | undefined, state: PodSyncState): PodAction[] {
    const { probes, clock } = this.#deps
    if (pod === undefined) return planTermination(undefined, running, orphanGraceSeconds, false)
    if (isBeingDeleted(pod)) {
      const graceSeconds = pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds
      return planTermination(pod, running, graceSeconds, true)
    }
    if (isPodFinished(pod) || state.termination !== undefined)
      return planCompletion(pod, running, state.termination?.graceSeconds)
    const { resize, restarting, crashBackoffs } = state
    for (const id of restarting) if (!running?.containers.some((one) => one.id === id)) restarting.delete(id)
    const stops = resize?.restarts.map((container) => resizeRestart(pod, container)) ?? []
    for (const { container } of stops) restarting.add(container.id)
    if (stops.length > 0) return [{ kind: 'stop-containers', stops }]
    const nowMs = clock.nowMs()
    return planRun({ pod: resize?.granted ?? pod, running, crashBackoffs, restarting, health: probes, nowMs })
  }

  #nextSyncMs(
    pod: Pod | undefined,
    actions: readonly PodAction[],
    state: PodSyncState,
    context: Context,
  ): number | undefined {
    const { clock, recordEvent } = this.#deps
    const nowMs = clock.nowMs()
    if (pod !== undefined) updateWaitingReasons(pod, actions, state, nowMs, (event) => recordEvent(pod, event, context))
    return nextSyncMs(pod, actions, state, nowMs)
  }
}
