// The pod worker: looks at one pod, acts until nothing is left to do, and reports its status. One pod, one worker at
// a time; it keeps nothing that a restarted kubelet could not find again.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { DeferredTask } from '../../base/work/deferred-task.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, namespaceOf } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import type { Client } from '../../client/client.ts'
import type { PodDialer } from '../../machine/dialer/pod-dialer.ts'
import type { ContainerRuntime, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { deadlineOf, hasExpired } from '../pod/active-deadline.ts'
import { ContainerStarter } from '../container/container-starter.ts'
import { ContainerStopper } from '../container/container-stopper.ts'
import { ImageManager } from '../images/image-manager.ts'
import type { ReferencedObjects } from '../objects/referenced-objects.ts'
import { planTermination, planCompletion, resizeRestart, planRun, type PodAction } from '../pod/pod-actions.ts'
import { formatPod, type RecordPodEvent } from '../events/pod-events.ts'
import type { PodProvisioner } from '../container/pod-provisioner.ts'
import { newPodSyncState, type PodSyncState, type PodTermination } from '../pod/pod-sync-state.ts'
import { PodProgress } from '../pod/pod-progress.ts'
import { PodStatusManager } from '../status/pod-status-manager.ts'
import type { ProbeManager } from '../probes/probe-manager.ts'
import { resizeEvents } from '../pod/resize-events.ts'
import { hasResources, type Resize, type Resizer } from '../resources/resizer.ts'
import { recordCall, type RecordCall } from '../events/record-call.ts'
import { nextCrashBackoff } from '../pod/restart-policy.ts'
import type { StaticPods } from '../sources/static-pods.ts'
import { VolumeError } from '../volumes/types/volume-type.ts'

export interface PodSyncerDeps {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly dialer: PodDialer
  readonly maker: PodProvisioner
  readonly objects: ReferencedObjects
  readonly probes: ProbeManager
  /** Undefined where the node has no pods of its own. */
  readonly staticPods: StaticPods | undefined
  /** Why pods get no network now. */
  readonly networkProblem: () => string | undefined
  /** There is an image that was not there. */
  readonly onImage: () => void
  /** Why the node does not take a pod, if it does not. */
  readonly rejection: (pod: Pod, context: Context) => Promise<PodTermination | undefined>
  readonly resizer: Resizer
  readonly tell: RecordPodEvent
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  readonly nodeName: string
  readonly hostIp: string
}

const sandboxBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }
/** Under which name failures of the sandbox are remembered: no container is called so. */
const sandboxFailure = ''
/** What is left to a pod that the API server does not have any more. */
const orphanGraceSeconds = 1
/** How often a resize that could not be done is tried again. */
const resizeLookMs = 10_000

/**
 * When a status is told: now, when nothing is left to do; soon, when a look begins, unless what follows at once overtakes
 * it. Containers that have ended are told of before their sandbox goes, since nothing is known of them afterwards.
 */
function urgencyOf(round: number, due: readonly PodAction[]): 'now' | 'soon' | 'never' {
  if (due.length === 0 || due.some(({ kind }) => kind === 'remove-sandbox')) return 'now'
  return round === 0 && !isGone(due) ? 'soon' : 'never'
}

const isGone = (due: readonly PodAction[]): boolean => due.some(({ kind }) => kind === 'release-pod')

/** The watch may be behind what was answered: what is told is told of the newest. */
const newerOf = (seen: Pod, written: Pod | undefined): Pod =>
  written !== undefined && Number(written.metadata.resourceVersion) > Number(seen.metadata.resourceVersion)
    ? written
    : seen

/** Under which name failures of an action are remembered. */
const failureName = (action: PodAction): string | undefined =>
  action.kind === 'run-sandbox' ? sandboxFailure : action.kind === 'start-container' ? action.container.name : undefined

export class PodSyncer {
  readonly #deps: PodSyncerDeps
  readonly #memories = new Map<string, PodSyncState>()
  readonly #starter: ContainerStarter
  readonly #stopper: ContainerStopper
  readonly #reporter: PodStatusManager
  readonly #call: RecordCall

  constructor(deps: PodSyncerDeps) {
    const call = recordCall(deps.flow, deps.nodeName)
    this.#deps = deps
    this.#call = call
    this.#starter = new ContainerStarter({ ...deps, images: new ImageManager({ ...deps, call }), call })
    this.#stopper = new ContainerStopper({ ...deps, call })
    this.#reporter = new PodStatusManager(deps)
  }

  /** The node gives the pod up: it ends as failed, and says why. It is to be synced then. */
  terminate(uid: string, verdict: PodTermination): void {
    this.#memoryOf(uid).termination ??= verdict
  }

  /** Whether the pod came to be as it is by what was told of it last. */
  hasTold(uid: string, resourceVersion: string): boolean {
    const version = this.#memories.get(uid)?.lastReported?.version
    return version !== undefined && version === resourceVersion
  }

  /** Whether the node has taken the pod. */
  hasAdmitted(uid: string): boolean {
    const memory = this.#memories.get(uid)
    return memory !== undefined && memory.isAdmitted && !memory.termination?.isRejection
  }

  /**
   * Brings the pod to what is wanted; `undefined`: the API server has no such pod any more. Returns when to look again.
   * `onLook` is called before the runtime is looked at, each time.
   */
  async sync(
    uid: string,
    known: Pod | undefined,
    context: Context,
    onInspect: () => void = () => {},
  ): Promise<number | undefined> {
    const { runtime, maker, probes, clock, hostIp } = this.#deps
    const memory = this.#memoryOf(uid)
    if (known !== undefined && !memory.isAdmitted) await this.#admit(known, memory, context)
    let againMs: number | undefined
    let wanted = known && newerOf(known, memory.lastWritten)
    const progress = new PodProgress()
    let early: DeferredTask<Pod | undefined> | undefined
    try {
      for (let round = 0; ; round++) {
        onInspect()
        const running = await runtime.inspect(uid, context.signal)
        if (wanted !== undefined) {
          this.#judge(wanted, memory, context)
          probes.follow(wanted, running, hostIp)
          if (memory.resize !== undefined || hasResources(wanted.spec))
            memory.resize = await this.#resize(wanted, running, memory, context)
        }
        const actions = this.#decide(wanted, running, memory)
        const due = actions.filter((action) => !this.#isHeldBack(action, memory))
        againMs = this.#nextLookMs(wanted, actions, memory, context)
        const urgency = urgencyOf(round, due)
        if (urgency === 'now') {
          const told = await early?.end()
          early = undefined
          if (told !== undefined) wanted = told.result
        }
        if (wanted !== undefined && urgency !== 'never') {
          const seen = wanted
          const report = () => this.#reporter.report(seen, running, memory, context)
          if (urgency === 'now') wanted = await report()
          else early = new DeferredTask(clock, report)
        }
        if (due.length === 0) break
        progress.note(due)
        for (const action of due) await this.#act(action, uid, wanted, running, memory, context)
        if (isGone(due)) break
      }
    } finally {
      await early?.end()
    }
    if (wanted === undefined) {
      this.#memories.delete(uid)
      probes.forget(uid)
    }
    if (known === undefined) await maker.removePodData(uid, context.signal)
    return memory.reportInMs === undefined ? againMs : Math.min(againMs ?? memory.reportInMs, memory.reportInMs)
  }

  async #resize(
    wanted: Pod,
    running: RuntimePod | undefined,
    { resize: before }: PodSyncState,
    context: Context,
  ): Promise<Resize | undefined> {
    const { resizer, tell } = this.#deps
    const resize = hasResources(wanted.spec) ? await resizer.step(wanted, running, context) : undefined
    for (const note of resizeEvents(before, resize, wanted)) tell(wanted, note, context)
    return resize
  }

  /** Once, before anything of it runs; what a kubelet has begun with before is not refused afterwards. */
  async #admit(wanted: Pod, memory: PodSyncState, context: Context): Promise<void> {
    const isBegun = isBeingDeleted(wanted) || isPodFinished(wanted) || wanted.status.startTime !== undefined
    const rejection = isBegun ? undefined : await this.#deps.rejection(wanted, context)
    memory.isAdmitted = true
    if (rejection === undefined) return
    memory.termination ??= { ...rejection, isRejection: true }
    this.#deps.tell(wanted, { type: 'Warning', ...rejection }, context)
  }

  /** Pods that have had their time are ended. */
  #judge(wanted: Pod, memory: PodSyncState, context: Context): void {
    if (memory.termination !== undefined || isBeingDeleted(wanted) || isPodFinished(wanted)) return
    if (!hasExpired(wanted, this.#deps.clock.nowMs())) return
    const reason = 'DeadlineExceeded'
    const message = 'Pod was active on the node longer than the specified deadline'
    memory.termination = { reason, message }
    this.#deps.tell(wanted, { type: 'Normal', reason, message }, context)
  }

  #decide(wanted: Pod | undefined, running: RuntimePod | undefined, memory: PodSyncState): PodAction[] {
    const { probes: health, clock } = this.#deps
    if (wanted === undefined) return planTermination(undefined, running, orphanGraceSeconds, false)
    if (isBeingDeleted(wanted)) {
      const { deletionGracePeriodSeconds } = wanted.metadata
      return planTermination(
        wanted,
        running,
        deletionGracePeriodSeconds ?? wanted.spec.terminationGracePeriodSeconds,
        true,
      )
    }
    if (isPodFinished(wanted) || memory.termination !== undefined)
      return planCompletion(wanted, running, memory.termination?.graceSeconds)
    const { resize, restarting } = memory
    for (const id of restarting) if (!running?.containers.some((one) => one.id === id)) restarting.delete(id)
    const stops = resize?.restarts.map((container) => resizeRestart(wanted, container)) ?? []
    for (const { container } of stops) restarting.add(container.id)
    if (stops.length > 0) return [{ kind: 'stop-containers', stops }]
    const { crashBackoffs: crashes } = memory
    return planRun({
      pod: resize?.granted ?? wanted,
      running,
      crashBackoffs: crashes,
      restarting,
      health,
      nowMs: clock.nowMs(),
    })
  }

  #heldUntilMs(action: PodAction, { failures }: PodSyncState): number {
    const name = failureName(action)
    return name === undefined ? 0 : (failures.get(name)?.untilMs ?? 0)
  }

  #isHeldBack(action: PodAction, memory: PodSyncState): boolean {
    return action.kind === 'wait' || this.#heldUntilMs(action, memory) > this.#deps.clock.nowMs()
  }

  /** When something that waits now may be done, or said in other words; notes why it waits. */
  #nextLookMs(
    wanted: Pod | undefined,
    actions: readonly PodAction[],
    memory: PodSyncState,
    context: Context,
  ): number | undefined {
    const nowMs = this.#deps.clock.nowMs()
    const waits: number[] = []
    if (memory.resize?.verdict.kind === 'pending' || memory.resize?.progress?.message) waits.push(resizeLookMs)
    if (wanted !== undefined && memory.termination === undefined && !isPodFinished(wanted)) {
      const deadlineMs = deadlineOf(wanted)
      if (deadlineMs !== undefined && deadlineMs > nowMs) waits.push(deadlineMs - nowMs)
    }
    for (const action of actions) {
      if (action.kind === 'wait') {
        waits.push(action.ms)
        if (wanted !== undefined) this.#noteCrash(wanted, action, memory, context)
        continue
      }
      const untilMs = this.#heldUntilMs(action, memory)
      if (untilMs <= nowMs) continue
      waits.push(untilMs - nowMs)
      const name = failureName(action) ?? sandboxFailure
      const later = memory.failures.get(name)?.later
      if (later === undefined || wanted === undefined) continue
      if (later.fromMs > nowMs) waits.push(later.fromMs - nowMs)
      else if (memory.waiting.get(name)?.message !== later.message) {
        const { reason, message, event } = later
        memory.waiting.set(name, { reason, message })
        this.#deps.tell(wanted, { type: 'Normal', reason: 'BackOff', message: event, container: name }, context)
        const error = { type: 'Warning', reason: 'Failed', message: `Error: ${reason}`, container: name } as const
        this.#deps.tell(wanted, error, context)
      }
    }
    return waits.length === 0 ? undefined : Math.min(...waits)
  }

  #noteCrash(
    wanted: Pod,
    { container, backoffMs: waitMs }: Extract<PodAction, { kind: 'wait' }>,
    { waiting }: PodSyncState,
    context: Context,
  ): void {
    const message = `back-off ${durationTextOfMs(waitMs)} restarting failed container=${container} pod=${formatPod(wanted)}`
    if (waiting.get(container)?.message === message) return
    waiting.set(container, { reason: 'CrashLoopBackOff', message })
    const said = `Back-off restarting failed container ${container} in pod ${formatPod(wanted)}`
    this.#deps.tell(wanted, { type: 'Warning', reason: 'BackOff', message: said, container }, context)
  }

  async #act(
    action: PodAction,
    uid: string,
    wanted: Pod | undefined,
    running: RuntimePod | undefined,
    memory: PodSyncState,
    context: Context,
  ): Promise<void> {
    const { runtime, maker, clock } = this.#deps
    const { signal } = context
    switch (action.kind) {
      case 'run-sandbox':
        if (wanted === undefined) return
        return this.#runSandbox(wanted, memory, context)
      case 'start-container': {
        if (wanted === undefined || running === undefined) return
        const { container, finishedMs } = action
        if (finishedMs !== undefined) {
          const { crashBackoffs: crashes } = memory
          crashes.set(container.name, nextCrashBackoff(crashes.get(container.name), finishedMs, clock.nowMs()))
        }
        return this.#starter.start(wanted, action, running, memory, context)
      }
      case 'stop-containers':
        if (running === undefined) return
        return this.#stopper.stop(wanted, running, action.stops, context)
      case 'remove-container':
        await this.#call(`remove container ${action.container.name}`, wanted, context, () =>
          runtime.removeContainer(action.container.id, signal),
        )
        return maker.removeContainerFiles(uid, action.container)
      case 'stop-sandbox':
        await this.#call('stop sandbox', wanted, context, () => runtime.stopSandbox(action.sandboxId, signal))
        return maker.releaseResources(uid, signal)
      case 'remove-sandbox':
        if (action.isLost === true && wanted !== undefined) this.#deps.tell(wanted, sandboxChanged, context)
        return this.#call('remove sandbox', wanted, context, () => runtime.removeSandbox(action.sandboxId, signal))
      case 'release-pod':
        // Also of a pod that never got a sandbox: its volumes may be there.
        await maker.removePodData(uid, signal)
        if (wanted !== undefined) await this.#release(wanted, context)
        return
      case 'wait':
        return
      default:
        return action satisfies never
    }
  }

  /** Volumes first: a pod whose volumes cannot be had does not begin. */
  async #runSandbox(wanted: Pod, memory: PodSyncState, context: Context): Promise<void> {
    const { runtime, maker, clock, tell, networkProblem } = this.#deps
    try {
      const problem = wanted.spec.hostNetwork === true ? undefined : networkProblem()
      if (problem !== undefined) throw new NetworkNotReady(`network is not ready: ${problem}`)
      await maker.prepare(wanted)
      await maker.mountVolumes(wanted, new Map(), context)
      const config = await maker.sandbox(wanted, 0, context)
      await this.#call('run sandbox', wanted, context, () => runtime.runSandbox(config, context.signal))
      memory.failures.delete(sandboxFailure)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      const count = (memory.failures.get(sandboxFailure)?.count ?? 0) + 1
      memory.failures.set(sandboxFailure, { count, untilMs: clock.nowMs() + backoffMs(sandboxBackoff, count - 1) })
      tell(wanted, { type: 'Warning', ...sandboxFailureNote(error) }, context)
    }
  }

  async #release(wanted: Pod, context: Context): Promise<void> {
    const { name, uid } = wanted.metadata
    const { staticPods: statics } = this.#deps
    if (statics?.has(uid)) return statics.release(wanted, context)
    try {
      await this.#deps.client.of(podKind).delete(name, namespaceOf(wanted), { gracePeriodSeconds: 0, uid }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
    }
  }

  #memoryOf(uid: string): PodSyncState {
    const memory = this.#memories.get(uid) ?? newPodSyncState()
    this.#memories.set(uid, memory)
    return memory
  }
}

const sandboxChanged = {
  type: 'Normal',
  reason: 'SandboxChanged',
  message: 'Pod sandbox changed, it will be killed and re-created.',
} as const

class NetworkNotReady extends Error {
  override name = 'NetworkNotReady'
}

const sandboxFailureNote = (error: Error): { readonly reason: string; readonly message: string } => {
  const { message } = error
  if (error instanceof VolumeError) return { reason: 'FailedMount', message }
  if (error instanceof NetworkNotReady) return { reason: 'NetworkNotReady', message }
  return { reason: 'FailedCreatePodSandBox', message: `Failed to create pod sandbox: ${message}` }
}
