// The scheduler: takes pods from the queue, decides, assumes, binds. Binding runs beside the next decision.
import type { Clock } from '../base/clock.ts'
import { rfc3339 } from '../base/clock.ts'
import { context, type Context } from '../base/context.ts'
import { causeOf, type Cause, type FlowRecorder } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { isPodFinished, podCondition } from '../api/core/v1/pod-readiness.ts'
import { isBound, pod, type Pod } from '../api/core/v1/pod.ts'
import { node } from '../api/core/v1/node.ts'
import { keyOf, namespaceOf, isBeingDeleted } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/event-recorder.ts'
import type { Informers } from '../client/informers.ts'
import { decide, type Decision } from './cycle.ts'
import type { Cycle, SchedulerPlugin, WakeEvent } from './framework.ts'
import { SchedulingQueue, type Waiting } from './queue.ts'
import { Snapshot } from './snapshot.ts'

export interface SchedulerParts {
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly plugins: readonly SchedulerPlugin[]
}

export const schedulerName = 'default-scheduler'
const participant = 'scheduler'
/** Decisions kept for those who ask why. */
const decisionsMax = 10_000

export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #snapshot = new Snapshot()
  readonly #queue: SchedulingQueue
  readonly #events: EventRecorder
  readonly #decisions = new Map<string, Decision>()

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    const sort = parts.plugins.find((plugin) => plugin.queueSort !== undefined)?.queueSort ?? (() => 0)
    this.#queue = new SchedulingQueue(parts.clock, sort)
    this.#events = new EventRecorder(parts.client, schedulerName, parts)
  }

  /** Why the pod is where it is, or nowhere; undefined when that has been forgotten. */
  decisionOf(podKey: string): Decision | undefined {
    return this.#decisions.get(podKey)
  }

  start(tasks: TaskGroup): void {
    this.#watch()
    tasks.signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    tasks.start('scheduler', async (signal) => {
      await this.#parts.informers.synced()
      for (let next = await this.#queue.take(signal); next !== undefined; next = await this.#queue.take(signal))
        this.#schedule(next, tasks)
    })
  }

  #watch(): void {
    const { informers } = this.#parts
    informers.of(node).onChange(({ now, before, key, cause }) => {
      if (now === undefined) return this.#snapshot.removeNode(key)
      this.#snapshot.setNode(now)
      this.#wake(
        before === undefined ? { kind: 'node-added', node: now } : { kind: 'node-changed', node: now, before },
        cause,
      )
    })
    informers.of(pod).onChange(({ now, before, key, cause }) => {
      const gone = now === undefined || isPodFinished(now)
      if (gone) {
        this.#queue.remove(key)
        this.#decisions.delete(key)
        const last = now ?? before
        if (last !== undefined) this.#snapshot.remove(last)
        if (before !== undefined && isBound(before)) this.#wake({ kind: 'pod-removed', pod: before }, cause)
      } else if (isBound(now)) {
        this.#queue.remove(key)
        this.#snapshot.place(now, now.spec.nodeName)
      } else if (isBeingDeleted(now)) this.#queue.remove(key)
      else if (this.#isOurs(now)) this.#queue.add(now, cause)
    })
  }

  #isOurs(candidate: Pod): boolean {
    if (candidate.spec.schedulerName !== schedulerName) return false
    return this.#parts.plugins.every((plugin) => plugin.preEnqueue?.(candidate) === undefined)
  }

  #wake(event: WakeEvent, cause: Cause): void {
    const hopeful = this.#parts.plugins.filter((plugin) => plugin.wakesOn !== undefined)
    this.#queue.wake(
      ({ pod: parked, rejectedBy }) =>
        rejectedBy.size === 0 ||
        hopeful.some((plugin) => rejectedBy.has(plugin.name) && plugin.wakesOn?.(event, parked)),
      cause,
    )
  }

  #schedule(waiting: Waiting, tasks: TaskGroup): void {
    const { flow, plugins, random } = this.#parts
    const cycle: Cycle = { pod: waiting.pod, snapshot: this.#snapshot }
    const subject = { resource: 'pods', namespace: namespaceOf(waiting.pod), name: waiting.pod.metadata.name }
    const decision = decide(cycle, plugins, random)
    this.#remember(waiting.pod, decision)
    const what = decision.kind === 'chosen' ? `filter, score → ${decision.nodeName}` : 'filter → no node fits'
    const step = flow.record('reconcile', participant, participant, what, subject, 0, waiting.cause)
    const cause = { ...causeOf(step), revisions: waiting.cause.revisions }
    if (decision.kind === 'unschedulable') {
      this.#queue.park(waiting, new Set([...decision.rejected.values()].map(({ plugin }) => plugin)))
      tasks.start('make room', (signal) => this.#makeRoom(cycle, decision, context(signal, cause)))
      return
    }
    this.#snapshot.place(waiting.pod, decision.nodeName)
    for (const plugin of plugins) plugin.reserve?.(cycle, decision.nodeName)
    tasks.start('bind', (signal) => this.#bind(waiting, cycle, decision.nodeName, context(signal, cause)))
  }

  async #bind(waiting: Waiting, cycle: Cycle, nodeName: string, ctx: Context): Promise<void> {
    const { plugins, client, log } = this.#parts
    try {
      for (const plugin of plugins) {
        const verdict = await plugin.permit?.(cycle, nodeName, ctx)
        if (verdict?.kind === 'rejected') throw new Error(verdict.reason)
      }
      for (const plugin of plugins) await plugin.preBind?.(cycle, nodeName, ctx)
      for (const plugin of plugins) if (await plugin.bind?.(cycle, nodeName, client, ctx)) break
      for (const plugin of plugins) plugin.postBind?.(cycle, nodeName)
    } catch (error) {
      if (ctx.signal.aborted) return
      for (const plugin of plugins.toReversed()) plugin.unreserve?.(cycle, nodeName)
      this.#snapshot.remove(waiting.pod)
      if (hasReason(error, 'NotFound')) return
      log.debug('a pod could not be bound', { pod: keyOf(waiting.pod), node: nodeName, error: errorText(error) })
      if (this.#parts.informers.of(pod).get(keyOf(waiting.pod))?.spec.nodeName === undefined) this.#queue.retry(waiting)
      return
    }
    const message = `Successfully assigned ${keyOf(waiting.pod)} to ${nodeName}`
    await this.#events.record(waiting.pod, { type: 'Normal', reason: 'Scheduled', message }, ctx)
  }

  /** Nothing fits: says so, and asks the plugins whether room can be made on some node. */
  async #makeRoom(
    cycle: Cycle,
    { message, rejected }: Extract<Decision, { kind: 'unschedulable' }>,
    ctx: Context,
  ): Promise<void> {
    const { client, clock, log, plugins } = this.#parts
    const target = cycle.pod
    await this.#events.record(target, { type: 'Warning', reason: 'FailedScheduling', message }, ctx)
    try {
      const verdicts = new Map([...rejected].map(([name, { verdict }]) => [name, verdict]))
      let nominated: string | undefined
      for (const plugin of plugins) nominated ??= await plugin.postFilter?.(cycle, verdicts, ctx)
      const before = podCondition(target, 'PodScheduled')
      const isNews = before?.status !== 'False' || before.message !== message
      if (!isNews && nominated === target.status.nominatedNodeName) return
      const sinceText = before?.status === 'False' ? before.lastTransitionTime : rfc3339(clock.nowMs())
      const condition = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message,
        lastTransitionTime: sinceText,
      }
      const status = { conditions: [condition], ...(nominated === undefined ? {} : { nominatedNodeName: nominated }) }
      await client.of(pod).patch(target.metadata.name, namespaceOf(target), { status }, 'strategic', ctx, 'status')
    } catch (error) {
      // The pod is tried again in any case; what could not be written now is written then.
      if (!ctx.signal.aborted)
        log.debug('a pod could not be told why it waits', { pod: keyOf(target), error: errorText(error) })
    }
  }

  #remember(target: Pod, decision: Decision): void {
    const key = keyOf(target)
    this.#decisions.delete(key)
    this.#decisions.set(key, decision)
    if (this.#decisions.size > decisionsMax) this.#decisions.delete(this.#decisions.keys().next().value ?? '')
  }
}
