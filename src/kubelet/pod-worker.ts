// The pod worker: looks at one pod, acts until nothing is left to do, and reports its status. One pod, one worker at
// a time; it keeps nothing that a restarted kubelet could not find again.
import type { Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import { backoffMs, type Backoff } from '../base/work-queue.ts'
import { isPodFinished } from '../api/core/v1/pod-readiness.ts'
import { pod as podKind, type Pod } from '../api/core/v1/pod.ts'
import { isBeingDeleted, namespaceOf } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import { equalValues } from '../schema/json-value.ts'
import type { Client } from '../client/client.ts'
import type { EventNote, EventRecorder } from '../client/event-recorder.ts'
import type { ContainerRuntime, RuntimePod } from '../machine/runtime/runtime.ts'
import { ContainerStarter } from './container-starter.ts'
import { ImageProvider } from './images/image-provider.ts'
import type { NodeObjects } from './node-objects.ts'
import { endPod, runPod, type PodAction } from './pod-actions.ts'
import type { PodMaker } from './pod-maker.ts'
import { newMemory, type PodMemory } from './pod-memory.ts'
import { podStatus } from './pod-status.ts'
import { VolumeError } from './volumes/volume-type.ts'

export interface PodWorkerParts {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly maker: PodMaker
  readonly objects: NodeObjects
  readonly events: EventRecorder
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  readonly nodeName: string
  readonly hostIp: string
}

/** Actions that follow one another in one go; more than any pod needs. */
const roundsMax = 1000

const sandboxBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }
/** Under which name failures of the sandbox are remembered: no container is called so. */
const sandboxFailure = ''

/**
 * A status is told when a look begins and when nothing is left to do: what lies between follows at once. Containers that
 * have ended are told of before their sandbox goes, since nothing is known of them afterwards.
 */
const isWorthTelling = (round: number, due: readonly PodAction[]): boolean =>
  due.length === 0 || due.some(({ kind }) => kind === 'remove-sandbox') || (round === 0 && !isGone(due))

const isGone = (due: readonly PodAction[]): boolean => due.some(({ kind }) => kind === 'release-pod')

/** When an action that failed before may be tried again; 0 when it may now. */
function heldUntilMs(action: PodAction, { failures }: PodMemory): number {
  if (action.kind === 'run-sandbox') return failures.get(sandboxFailure)?.untilMs ?? 0
  return action.kind === 'start-container' ? (failures.get(action.container.name)?.untilMs ?? 0) : 0
}

export class PodWorker {
  readonly #parts: PodWorkerParts
  readonly #memories = new Map<string, PodMemory>()
  readonly #starter: ContainerStarter

  constructor(parts: PodWorkerParts) {
    const tell = (pod: Pod, note: EventNote, context: Context) => parts.events.record(pod, note, context)
    const call = <T>(what: string, pod: Pod, context: Context, action: () => Promise<T>) =>
      this.#call(what, pod, context, action)
    this.#parts = parts
    this.#starter = new ContainerStarter({ ...parts, images: new ImageProvider({ ...parts, tell, call }), tell, call })
  }

  /** Brings the pod to what is wanted; `undefined`: the API server has no such pod any more. Returns when to look again. */
  async sync(uid: string, known: Pod | undefined, context: Context): Promise<number | undefined> {
    const { runtime, maker } = this.#parts
    const memory = this.#memoryOf(uid)
    let againMs: number | undefined
    let wanted = known
    for (let round = 0; round < roundsMax; round++) {
      const running = await runtime.inspect(uid, context.signal)
      const actions = this.#decide(wanted, running)
      const due = actions.filter((action) => !this.#isHeldBack(action, memory))
      againMs = this.#nextLookMs(actions, memory)
      if (wanted !== undefined && isWorthTelling(round, due))
        wanted = await this.#report(wanted, running, memory, context)
      if (due.length === 0) break
      for (const action of due) await this.#act(action, uid, wanted, running, memory, context)
      if (due.some(({ kind }) => kind === 'release-pod')) break
    }
    if (wanted === undefined || isBeingDeleted(wanted)) this.#memories.delete(uid)
    if (known === undefined) await maker.remove(uid)
    return againMs
  }

  #decide(wanted: Pod | undefined, running: RuntimePod | undefined): PodAction[] {
    if (wanted === undefined) return endPod(0, running, false)
    if (isBeingDeleted(wanted))
      return endPod(
        wanted.metadata.deletionGracePeriodSeconds ?? wanted.spec.terminationGracePeriodSeconds,
        running,
        true,
      )
    return isPodFinished(wanted) ? [] : runPod(wanted, running, this.#parts.clock.nowMs())
  }

  #isHeldBack(action: PodAction, memory: PodMemory): boolean {
    return action.kind === 'wait' || heldUntilMs(action, memory) > this.#parts.clock.nowMs()
  }

  #nextLookMs(actions: readonly PodAction[], memory: PodMemory): number | undefined {
    const nowMs = this.#parts.clock.nowMs()
    const waits: number[] = []
    for (const action of actions) {
      if (action.kind === 'wait') {
        waits.push(action.ms)
        const seconds = Math.round(action.ms / 1000)
        memory.waiting.set(action.container, {
          reason: 'CrashLoopBackOff',
          message: `back-off ${seconds}s restarting failed container=${action.container}`,
        })
      } else {
        const untilMs = heldUntilMs(action, memory)
        if (untilMs > nowMs) waits.push(untilMs - nowMs)
      }
    }
    return waits.length === 0 ? undefined : Math.min(...waits)
  }

  async #act(
    action: PodAction,
    uid: string,
    wanted: Pod | undefined,
    running: RuntimePod | undefined,
    memory: PodMemory,
    context: Context,
  ): Promise<void> {
    const { runtime, maker } = this.#parts
    const { signal } = context
    switch (action.kind) {
      case 'run-sandbox':
        if (wanted === undefined) return
        return this.#runSandbox(wanted, memory, context)
      case 'start-container':
        if (wanted === undefined || running === undefined) return
        return this.#starter.start(wanted, action.container, action.attempt, running, memory, context)
      case 'stop-container': {
        const { id, name } = action.container
        if (wanted !== undefined) await this.#tell(wanted, 'Normal', 'Killing', `Stopping container ${name}`, context)
        return this.#call(`stop container ${name}`, wanted, context, () =>
          runtime.stopContainer(id, action.graceMs, signal),
        )
      }
      case 'remove-container':
        return this.#call(`remove container ${action.container.name}`, wanted, context, () =>
          runtime.removeContainer(action.container.id, signal),
        )
      case 'remove-sandbox':
        return this.#call('remove sandbox', wanted, context, () => runtime.removeSandbox(action.sandboxId, signal))
      case 'release-pod':
        // Also of a pod that never got a sandbox: its volumes may be there.
        await maker.remove(uid)
        if (wanted !== undefined) await this.#release(wanted, context)
        return
      case 'wait':
        return
      default:
        return action satisfies never
    }
  }

  /** Volumes first: a pod whose volumes cannot be had does not begin. */
  async #runSandbox(wanted: Pod, memory: PodMemory, context: Context): Promise<void> {
    const { runtime, maker, clock } = this.#parts
    try {
      await maker.prepare(wanted)
      await maker.mountVolumes(wanted, context)
      await this.#call('run sandbox', wanted, context, () =>
        runtime.runSandbox(maker.sandbox(wanted, 0), context.signal),
      )
      memory.failures.delete(sandboxFailure)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      const count = (memory.failures.get(sandboxFailure)?.count ?? 0) + 1
      memory.failures.set(sandboxFailure, { count, untilMs: clock.nowMs() + backoffMs(sandboxBackoff, count - 1) })
      if (error instanceof VolumeError) return this.#tell(wanted, 'Warning', 'FailedMount', error.message, context)
      const message = `Failed to create pod sandbox: ${error.message}`
      await this.#tell(wanted, 'Warning', 'FailedCreatePodSandBox', message, context)
    }
  }

  async #release(wanted: Pod, context: Context): Promise<void> {
    const { name, uid } = wanted.metadata
    try {
      await this.#parts.client.of(podKind).delete(name, namespaceOf(wanted), { gracePeriodSeconds: 0, uid }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
    }
  }

  async #hearLastWords(wanted: Pod, running: RuntimePod | undefined, { lastWords }: PodMemory): Promise<void> {
    const ended = running?.containers.filter(({ state }) => state === 'exited') ?? []
    for (const container of ended)
      if (!lastWords.has(container.id))
        lastWords.set(container.id, await this.#parts.maker.lastWords(wanted, container))
    for (const id of lastWords.keys()) if (!ended.some((container) => container.id === id)) lastWords.delete(id)
  }

  /** Writes the status when it has changed; returns the pod as it is now, undefined when it is gone. */
  async #report(
    wanted: Pod,
    running: RuntimePod | undefined,
    memory: PodMemory,
    context: Context,
  ): Promise<Pod | undefined> {
    const { client, clock, hostIp, runtime } = this.#parts
    await this.#hearLastWords(wanted, running, memory)
    const { waiting, lastWords } = memory
    const seen = { pod: wanted, running, waiting, lastWords }
    const status = podStatus({ ...seen, hostIp, runtimeName: runtime.name, nowMs: clock.nowMs() })
    if (equalValues(withoutTimes(status), withoutTimes(wanted.status), true)) return wanted
    const { name, uid } = wanted.metadata
    // A patch that tests the uid: the spec may have changed meanwhile, but the pod may not be another one.
    const patch = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/status', value: status },
    ]
    try {
      return await client.of(podKind).patch(name, namespaceOf(wanted), patch, 'json', context, 'status')
    } catch (error) {
      if (hasReason(error, 'NotFound') || hasReason(error, 'Invalid')) return undefined
      throw error
    }
  }

  async #call<T>(what: string, wanted: Pod | undefined, context: Context, action: () => Promise<T>): Promise<T> {
    const { flow, nodeName } = this.#parts
    const subject =
      wanted === undefined
        ? undefined
        : { resource: 'pods', namespace: namespaceOf(wanted), name: wanted.metadata.name }
    const call = flow.record('call', `kubelet/${nodeName}`, 'Runtime', what, subject, 0, context.cause)
    try {
      const result = await action()
      flow.finish(call, 'ok')
      return result
    } catch (error) {
      flow.finish(call, (error as Error).message)
      throw error
    }
  }

  #tell(wanted: Pod, type: EventNote['type'], reason: string, message: string, context: Context): Promise<void> {
    return this.#parts.events.record(wanted, { type, reason, message }, context)
  }

  #memoryOf(uid: string): PodMemory {
    const memory = this.#memories.get(uid) ?? newMemory()
    this.#memories.set(uid, memory)
    return memory
  }
}

/** Conditions keep their times while they keep their value, so times alone are no news. */
const withoutTimes = (status: Pod['status']): unknown => ({
  ...status,
  conditions: status.conditions?.map(({ lastTransitionTime: _, ...rest }) => rest),
})
