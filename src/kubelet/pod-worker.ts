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
import { plainContainer, plainSandbox } from '../machine/runtime/config.ts'
import type { ContainerRuntime, RuntimePod } from '../machine/runtime/runtime.ts'
import { endPod, runPod, type PodAction } from './pod-actions.ts'
import { podStatus } from './pod-status.ts'

export interface PodWorkerParts {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly events: EventRecorder
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  readonly nodeName: string
  readonly hostIp: string
}

const pullBackoff: Backoff = { initialMs: 10_000, maxMs: 300_000 }
/** Actions that follow one another in one go; more than any pod needs. */
const roundsMax = 1000

/** What the worker remembers of a pod between two looks; losing it costs a retry, nothing more. */
interface Memory {
  readonly waiting: Map<string, { reason: string; message: string }>
  readonly pullFailures: Map<string, { count: number; untilMs: number }>
}

export class PodWorker {
  readonly #parts: PodWorkerParts
  readonly #memories = new Map<string, Memory>()

  constructor(parts: PodWorkerParts) {
    this.#parts = parts
  }

  /** Brings the pod to what is wanted; `undefined`: the API server has no such pod any more. Returns when to look again. */
  async sync(uid: string, known: Pod | undefined, context: Context): Promise<number | undefined> {
    const { runtime } = this.#parts
    const memory = this.#memoryOf(uid)
    let againMs: number | undefined
    let wanted = known
    for (let round = 0; round < roundsMax; round++) {
      const running = await runtime.inspect(uid, context.signal)
      const actions = this.#decide(wanted, running)
      const due = actions.filter((action) => !this.#isHeldBack(action, memory))
      againMs = this.#nextLookMs(actions, memory)
      if (wanted !== undefined) wanted = await this.#report(wanted, running, memory, context)
      if (due.length === 0) break
      for (const action of due) await this.#act(action, uid, wanted, running, memory, context)
      if (due.some(({ kind }) => kind === 'release-pod')) break
    }
    if (wanted === undefined || isBeingDeleted(wanted)) this.#memories.delete(uid)
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

  #isHeldBack(action: PodAction, { pullFailures }: Memory): boolean {
    if (action.kind === 'wait') return true
    if (action.kind !== 'start-container') return false
    return (pullFailures.get(action.container.name)?.untilMs ?? 0) > this.#parts.clock.nowMs()
  }

  #nextLookMs(actions: readonly PodAction[], { pullFailures, waiting }: Memory): number | undefined {
    const nowMs = this.#parts.clock.nowMs()
    const waits: number[] = []
    for (const action of actions) {
      if (action.kind === 'wait') {
        waits.push(action.ms)
        const seconds = Math.round(action.ms / 1000)
        waiting.set(action.container, {
          reason: 'CrashLoopBackOff',
          message: `back-off ${seconds}s restarting failed container=${action.container}`,
        })
      } else if (action.kind === 'start-container') {
        const untilMs = pullFailures.get(action.container.name)?.untilMs ?? 0
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
    memory: Memory,
    context: Context,
  ): Promise<void> {
    const { runtime } = this.#parts
    const { signal } = context
    switch (action.kind) {
      case 'run-sandbox':
        if (wanted === undefined) return
        return this.#call('run sandbox', wanted, context, async () => {
          await runtime.runSandbox(plainSandbox(uid, namespaceOf(wanted), wanted.metadata.name), signal)
        })
      case 'start-container':
        if (wanted === undefined || running === undefined) return
        return this.#start(action, wanted, running, memory, context)
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
        if (wanted !== undefined) await this.#release(wanted, context)
        return
      case 'wait':
        return
      default:
        return action satisfies never
    }
  }

  async #start(
    { container, attempt }: Extract<PodAction, { kind: 'start-container' }>,
    wanted: Pod,
    running: RuntimePod,
    memory: Memory,
    context: Context,
  ): Promise<void> {
    const { runtime } = this.#parts
    const { signal } = context
    const { name, image = '', command = [], args = [] } = container
    if (!(await this.#pull(name, image, wanted, memory, context))) return
    const environment = (container.env ?? []).map((variable) => ({ name: variable.name, value: variable.value ?? '' }))
    await this.#call(`start container ${name}`, wanted, context, async () => {
      const id = await runtime.createContainer(
        running.sandboxId,
        { ...plainContainer(name, image, attempt), command, arguments: args, environment },
        plainSandbox(wanted.metadata.uid, namespaceOf(wanted), wanted.metadata.name),
        signal,
      )
      await this.#tell(wanted, 'Normal', 'Created', `Created container: ${name}`, context)
      await runtime.startContainer(id, signal)
    })
    memory.waiting.delete(name)
    await this.#tell(wanted, 'Normal', 'Started', `Started container ${name}`, context)
  }

  async #pull(
    name: string,
    image: string,
    wanted: Pod,
    { waiting, pullFailures }: Memory,
    context: Context,
  ): Promise<boolean> {
    const { runtime, clock } = this.#parts
    await this.#tell(wanted, 'Normal', 'Pulling', `Pulling image ${JSON.stringify(image)}`, context)
    const startMs = clock.monotonicMs()
    try {
      await this.#call(`pull image ${image}`, wanted, context, async () => {
        await runtime.pullImage(image, undefined, context.signal)
      })
      const took = `${Math.round(clock.monotonicMs() - startMs)}ms`
      await this.#tell(
        wanted,
        'Normal',
        'Pulled',
        `Successfully pulled image ${JSON.stringify(image)} in ${took} (${took} including waiting). Image size: 0 bytes.`,
        context,
      )
      pullFailures.delete(name)
      return true
    } catch (error) {
      if (context.signal.aborted) throw error
      const count = (pullFailures.get(name)?.count ?? 0) + 1
      pullFailures.set(name, { count, untilMs: clock.nowMs() + backoffMs(pullBackoff, count - 1) })
      const message = `Failed to pull image ${JSON.stringify(image)}: ${(error as Error).message}`
      await this.#tell(wanted, 'Warning', 'Failed', message, context)
      waiting.set(
        name,
        count === 1
          ? { reason: 'ErrImagePull', message }
          : {
              reason: 'ImagePullBackOff',
              message: `Back-off pulling image ${JSON.stringify(image)}: ErrImagePull: ${message}`,
            },
      )
      return false
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

  /** Writes the status when it has changed; returns the pod as it is now, undefined when it is gone. */
  async #report(
    wanted: Pod,
    running: RuntimePod | undefined,
    { waiting }: Memory,
    context: Context,
  ): Promise<Pod | undefined> {
    const { client, clock, hostIp, runtime } = this.#parts
    const status = podStatus({ pod: wanted, running, waiting, hostIp, runtimeName: runtime.name, nowMs: clock.nowMs() })
    if (equalValues(withoutTimes(status), withoutTimes(wanted.status))) return wanted
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

  async #call(what: string, wanted: Pod | undefined, context: Context, action: () => Promise<void>): Promise<void> {
    const { flow, nodeName } = this.#parts
    const subject =
      wanted === undefined
        ? undefined
        : { resource: 'pods', namespace: namespaceOf(wanted), name: wanted.metadata.name }
    const call = flow.record('call', `kubelet/${nodeName}`, 'Runtime', what, subject, 0, context.cause)
    try {
      await action()
      flow.finish(call, 'ok')
    } catch (error) {
      flow.finish(call, (error as Error).message)
      throw error
    }
  }

  #tell(wanted: Pod, type: EventNote['type'], reason: string, message: string, context: Context): Promise<void> {
    return this.#parts.events.record(wanted, { type, reason, message }, context)
  }

  #memoryOf(uid: string): Memory {
    const memory = this.#memories.get(uid) ?? { waiting: new Map(), pullFailures: new Map() }
    this.#memories.set(uid, memory)
    return memory
  }
}

/** Conditions keep their times while they keep their value, so times alone are no news. */
const withoutTimes = (status: Pod['status']): unknown => ({
  ...status,
  conditions: status.conditions?.map(({ lastTransitionTime: _, ...rest }) => rest),
})
