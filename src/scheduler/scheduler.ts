// The scheduler: takes pods from the queue, selects a node, assumes the pod there and binds it. Binding runs
// concurrently with the next cycle.
import type { Clock } from '../base/time/clock.ts'
import { withCause, context, type Context } from '../base/observability/context.ts'
import { causeOf, noCause, type Cause, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { eventLoopTurn } from '../base/async/event-loop-turn.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { isBound, pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { isBeingDeleted, keyOf, namespaceOf } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder, type EventNote } from '../client/events/event-recorder.ts'
import type { Informers } from '../client/informer/informers.ts'
import { Attempts, type Attempt } from './cycle/attempt.ts'
import { addEventHandlers } from './events/event-handlers.ts'
import { makeProfiles, type SchedulerConfiguration } from './framework/scheduler-configuration.ts'
import { CycleBuffers } from './cycle/cycle-buffers.ts'
import type { DecisionRecord } from './cycle/decision-record.ts'
import type { Extender } from './framework/extender.ts'
import { bindByExtender, filterByExtenders, interestedExtenders, scoreByExtenders } from './cycle/extender-calls.ts'
import { filterNodes, type Filtered } from './cycle/filtering.ts'
import type { Cycle, FilterRun, PluginDeps, SchedulerPlugin } from './framework/framework.ts'
import { runPostFilters } from './cycle/post-filter.ts'
import { QueueMetrics } from './framework/queue-metrics.ts'
import { measuredCall, type SchedulerMetrics } from './framework/scheduler-metrics.ts'
import { Nominator } from './framework/nominator.ts'
import { markUnscheduled } from './cycle/pod-condition.ts'
import type { Profile } from './framework/profile.ts'
import { SchedulingQueue, type QueuedPod } from './queue/scheduling-queue.ts'
import { bestOf, scoreNodes, type Scores } from './cycle/scoring.ts'
import { EquivalenceCache } from './cycle/equivalence-cache.ts'
import { podFacts } from './snapshot/pod-facts.ts'
import { Snapshot } from './snapshot/snapshot.ts'
import { summary } from './framework/verdicts.ts'
import { requeueOnEvent, type QueueingHintDeps } from './events/queueing-hints.ts'

export interface SchedulerDeps {
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly plugins: readonly SchedulerPlugin[]
  readonly configuration: SchedulerConfiguration
  readonly decisions: DecisionRecord
  readonly extenders: readonly Extender[]
  readonly metrics: SchedulerMetrics
}

const participant = 'scheduler'
/** Maximum number of concurrent bindings; further pods wait. */
const bindingsMax = 5_000
/** Time between two turns of the event loop; longer while the queue grows, to catch up. */
const stretchMs = { usual: 5, behind: 10 }
/** Waiting pods are scheduled in batches, so that their bindings and the resulting work run the same code in a row. */
const batchMax = 16
/** With this many bindings in progress the API server is busy, and pods are scheduled one by one. */
const batchBindingsMax = 128
const noNodes = 'no nodes available to schedule pods'

interface Unschedulable {
  readonly message: string
  readonly rejectedBy: ReadonlySet<string>
  readonly run: FilterRun | undefined
}

export class Scheduler {
  readonly #deps: SchedulerDeps
  readonly #snapshot = new Snapshot()
  readonly #nominator = new Nominator()
  readonly #equivalenceCache = new EquivalenceCache()
  readonly #buffers = new CycleBuffers()
  readonly #queue: SchedulingQueue
  /** By profile name: each profile records events under its own name. */
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #profiles: ReadonlyMap<string, Profile>
  readonly #attempts: Attempts
  readonly #cacheSizes
  readonly #bindings: { add(amount: number): void }
  readonly #queueingHints: QueueingHintDeps
  /** Uids of pods that are assumed and not yet observed as bound. */
  readonly #binding = new Set<string>()
  #bindingsUnderWay = 0
  readonly #tasks: TaskGroup
  #bindingsFree: (() => void) | undefined
  #nextStart = 0

  constructor(deps: SchedulerDeps, tasks: TaskGroup) {
    this.#deps = deps
    this.#tasks = tasks
    const profiles = makeProfiles(deps.configuration, deps.plugins, (plugin, args, schedulerName) => ({
      ...plugin,
      ...plugin.configure?.(args, this.#pluginDeps(schedulerName)),
    }))
    const { metrics, clock } = deps
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]))
    this.#attempts = new Attempts(profiles, metrics, clock)
    const sizeOf = (type: string) => metrics.cacheSize.with({ type })
    this.#cacheSizes = { nodes: sizeOf('nodes'), pods: sizeOf('pods'), assumed: sizeOf('assumed_pods') }
    this.#bindings = metrics.goroutines.with({ operation: 'binding' })
    const { podInitialBackoffSeconds = 1, podMaxBackoffSeconds = 10 } = deps.configuration
    this.#queue = new SchedulingQueue({
      clock,
      observer: new QueueMetrics(metrics),
      before: profiles[0]?.at.queueSort[0]?.queueSort ?? (() => 0),
      gate: (candidate) => this.#gateOf(candidate),
      backoff: { initialMs: podInitialBackoffSeconds * 1000, maxMs: podMaxBackoffSeconds * 1000 },
    })
    const queue = this.#queue
    const ofName = this.#profiles
    this.#queueingHints = { queue, profiles: ofName, extenders: deps.extenders, metrics, clock }
  }

  start(): void {
    const tasks = this.#tasks
    const plugins = [...this.#profiles.values()].flatMap((profile) => profile.plugins)
    addEventHandlers({
      informers: this.#deps.informers,
      snapshot: this.#snapshot,
      nominator: this.#nominator,
      kinds: plugins.flatMap(({ watches = [] }) => watches),
      onClusterEvent: (event, cause) => requeueOnEvent(this.#queueingHints, event, cause),
      onPending: (candidate, cause, mayHelp) => {
        if (this.#profiles.has(candidate.spec.schedulerName) && !this.#binding.has(candidate.metadata.uid))
          this.#queue.add(candidate, cause, mayHelp)
      },
      onNotPending: (key, settled, isGone) => {
        this.#queue.remove(key)
        this.#binding.delete(settled.metadata.uid)
        if (isGone) this.#deps.decisions.forget(key)
      },
    })
    tasks.signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    tasks.start('scheduler', (signal) => this.#run(signal))
    for (const name of this.#profiles.keys())
      tasks.start(`events of ${name}`, (signal) => this.#recorderOf(name).run(signal))
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, informers } = this.#deps
    await unlessAborted(informers.synced(), signal)
    let sinceMs = clock.monotonicMs()
    let leftBefore = 0
    const isLong = () => {
      const isBehind = this.#queue.activeCount > leftBefore
      return clock.monotonicMs() - sinceMs >= (isBehind ? stretchMs.behind : stretchMs.usual)
    }
    for (;;) {
      const first = await this.#queue.take(signal)
      if (first === undefined) return
      await this.#scheduleBatch(first, isLong)
      if (this.#bindingsUnderWay >= bindingsMax) await new Promise<void>((resolve) => (this.#bindingsFree = resolve))
      if (!isLong()) continue
      leftBefore = this.#queue.activeCount
      await clock.outside(eventLoopTurn())
      sinceMs = clock.monotonicMs()
    }
  }

  async #scheduleBatch(first: QueuedPod, isLong: () => boolean): Promise<void> {
    let queued: QueuedPod | undefined = first
    for (let count = 1; queued !== undefined; count++) {
      this.#measureCache()
      const attempt = this.#attempts.begin(queued)
      try {
        const scheduled = this.#schedule(attempt)
        if (scheduled !== undefined) await scheduled
      } catch (error) {
        this.#failed(attempt, error)
      }
      const isFull = count === batchMax || this.#bindingsUnderWay >= batchBindingsMax
      queued = isFull || isLong() || this.#tasks.signal.aborted ? undefined : this.#queue.next()
    }
  }

  #pluginDeps(schedulerName: string): PluginDeps {
    const { client, informers, clock, random, log, extenders, metrics } = this.#deps
    const snapshot = this.#snapshot
    const nominator = this.#nominator
    return {
      schedulerName,
      client,
      informers,
      clock,
      random,
      log,
      extenders,
      snapshot,
      nominator,
      metrics,
      recordEvent: (target, note, ctx) => this.#recorderOf(schedulerName).record(target, note, ctx),
      retryPreEnqueue: (target) => {
        if (this.#queue.queueOf(keyOf(target)) === 'gated') this.#queue.activate(keyOf(target), noCause)
      },
      retryAfterBackoff: (target) => this.#queue.backOff(keyOf(target)),
      startTask: (name, task) => this.#tasks.start(name, task),
    }
  }

  #gateOf(candidate: Pod): string | undefined {
    for (const plugin of this.#profileOf(candidate).at.preEnqueue) {
      if (plugin.preEnqueue(candidate) !== undefined) return plugin.name
    }
    return undefined
  }

  #profileOf({ spec: { schedulerName } }: Pod): Profile {
    const profile = this.#profiles.get(schedulerName)
    if (profile === undefined) throw new Error(`there is no profile ${schedulerName}`)
    return profile
  }

  #measureCache(): void {
    const { nodes, pods, assumed } = this.#cacheSizes
    nodes.set(this.#snapshot.size)
    pods.set(this.#snapshot.podCount)
    assumed.set(this.#binding.size)
  }

  /** Returns a promise only when extenders take part. */
  #schedule(attempt: Attempt): Promise<void> | undefined {
    const { queued, profile, stopwatch } = attempt
    const cycle: Cycle = { pod: queued.pod, facts: podFacts(queued.pod), snapshot: this.#snapshot }
    if (this.#snapshot.size === 0) {
      this.#addUnschedulable(attempt, { message: noNodes, rejectedBy: new Set(), run: undefined })
      return undefined
    }
    const filtered = filterNodes(
      cycle,
      profile,
      this.#nominator,
      this.#nextStart,
      this.#equivalenceCache,
      stopwatch,
      this.#buffers,
    )
    if (filtered.kind === 'filtered')
      this.#nextStart = (this.#nextStart + filtered.evaluated) % Math.max(1, this.#snapshot.size)
    if (interestedExtenders(this.#deps, queued.pod).length > 0) return this.#scheduleExtended(attempt, filtered)
    this.#conclude(attempt, filtered, this.#scores(attempt, filtered))
    return undefined
  }

  /** The cycle waits for the extenders, and so does the next pod. */
  async #scheduleExtended(attempt: Attempt, filtered: Filtered): Promise<void> {
    const { signal } = this.#tasks
    const { cycle } = filtered.run
    try {
      if (filtered.kind === 'rejected') return this.#conclude(attempt, filtered, undefined)
      const fitting = await filterByExtenders(filtered.run, filtered.fitting, this.#deps, signal)
      const extended = { ...filtered, fitting }
      attempt.stopwatch.resume()
      const scores = this.#scores(attempt, extended)
      if (scores !== undefined) await scoreByExtenders(scores, cycle.pod, cycle.snapshot, this.#deps, signal)
      this.#conclude(attempt, extended, scores)
    } catch (error) {
      if (!signal.aborted) this.#failed(attempt, error)
    }
  }

  /** Undefined when at most one node fits. */
  #scores({ profile, stopwatch }: Attempt, filtered: Filtered): Scores | undefined {
    if (filtered.kind === 'rejected' || filtered.fitting.length < 2) return undefined
    const { run, fitting } = filtered
    return scoreNodes(run.cycle, profile, fitting, run.equivalenceClass, stopwatch, this.#buffers)
  }

  /** A failed cycle only affects its pod, which is retried after its backoff. */
  #failed({ queued, stopwatch }: Attempt, error: unknown): void {
    stopwatch.end('error')
    this.#deps.log.warn('a pod could not be scheduled', { pod: keyOf(queued.pod), error: errorText(error) })
    this.#queue.retry(queued)
    this.#recordError(queued.pod, error, queued.cause)
  }

  #conclude(attempt: Attempt, filtered: Filtered, scores: Scores | undefined): void {
    attempt.stopwatch.decided()
    const unschedulable = this.#unschedulable(filtered)
    if (unschedulable !== undefined) return this.#addUnschedulable(attempt, unschedulable)
    if (filtered.kind !== 'filtered') return
    const { fitting, run } = filtered
    const slot = scores === undefined ? (fitting[0] ?? -1) : bestOf(scores, this.#deps.random)
    const nodeName = this.#snapshot.nameAt(slot)
    if (nodeName === '') throw new Error('the node was removed while extenders were called')
    this.#recordDecision(attempt.queued.pod, run, nodeName, '', scores)
    this.#assume(attempt, run.cycle, nodeName, fitting.length)
  }

  #unschedulable(filtered: Filtered): Unschedulable | undefined {
    const { size } = this.#snapshot
    const { run } = filtered
    if (filtered.kind === 'rejected') {
      const { plugin, rejection } = filtered.by
      for (const slot of this.#snapshot.order) run.verdicts.reject(slot, filtered.by)
      const message = `0/${size} nodes are available: ${rejection.reasons.join(', ')}.`
      return { message, rejectedBy: new Set([plugin]), run }
    }
    if (filtered.fitting.length > 0) return undefined
    return { message: summary(size, run.verdicts.reasonCounts()), rejectedBy: run.verdicts.rejectedBy(), run }
  }

  /** Counts the pod on its node at once and starts the binding. */
  #assume(attempt: Attempt, cycle: Cycle, nodeName: string, fittingCount: number): void {
    const { pod: target, cause: queuedBy } = attempt.queued
    this.#snapshot.place(target, nodeName)
    this.#binding.add(target.metadata.uid)
    const score = fittingCount > 1 ? ' → Score' : ''
    const what = `queue → PreFilter → Filter ${fittingCount} of ${this.#snapshot.size}${score} → Reserve ${nodeName}`
    const cause = this.#recordFlow(target, 'reconcile', what, queuedBy)
    this.#tasks.start('bind', (signal) => this.#bind(attempt, cycle, nodeName, context(signal, cause)))
  }

  async #bind(attempt: Attempt, cycle: Cycle, nodeName: string, ctx: Context): Promise<void> {
    const { client, metrics, clock } = this.#deps
    const { queued, profile, stopwatch } = attempt
    const { at } = profile
    const { pod: target } = queued
    this.#bindingsUnderWay++
    this.#bindings.add(1)
    stopwatch.resume()
    try {
      for (const plugin of at.reserve) plugin.reserve(cycle, nodeName)
      stopwatch.lap('Reserve')
      if (at.permit.length > 0) await this.#permit(attempt, cycle, nodeName, ctx)
      stopwatch.lap('Permit')
      for (const plugin of at.preBind) await preBind(plugin, cycle, nodeName, ctx)
      stopwatch.lap('PreBind')
      const bound = withCause(ctx, this.#recordFlow(target, 'step', `Permit → PreBind → Bind ${nodeName}`, ctx.cause))
      if (!(await bindByExtender(target, nodeName, this.#deps, ctx.signal)))
        for (const plugin of at.bind)
          if (await measuredCall('pod_binding', metrics, clock, () => plugin.bind(cycle, nodeName, client, bound)))
            break
      stopwatch.lap('Bind')
      for (const plugin of at.postBind) plugin.postBind(cycle, nodeName)
      stopwatch.lap('PostBind')
    } catch (error) {
      if (!ctx.signal.aborted) this.#unassume(attempt, cycle, nodeName, error)
      return
    } finally {
      this.#bindingsUnderWay--
      this.#bindings.add(-1)
      this.#bindingsFree?.()
      this.#bindingsFree = undefined
    }
    this.#attempts.bound(attempt)
    const message = `Successfully assigned ${keyOf(target)} to ${nodeName}`
    const note = { type: 'Normal', reason: 'Scheduled', action: 'Binding', message } as const
    this.#recordEvent(target, note, ctx)
  }

  async #permit({ profile: { at } }: Attempt, cycle: Cycle, nodeName: string, ctx: Context): Promise<void> {
    const { metrics, clock } = this.#deps
    const sinceMs = clock.monotonicMs()
    let result = 'Error'
    try {
      for (const plugin of at.permit) {
        const refused = await plugin.permit(cycle, nodeName, ctx)
        result = refused === undefined ? 'Success' : 'Unschedulable'
        if (refused !== undefined) throw new Error(refused.reasons.join(', '))
      }
    } finally {
      metrics.permitSeconds.observe({ result }, (clock.monotonicMs() - sinceMs) / 1000)
    }
  }

  /** Undoes an attempt whose binding failed, and requeues pods that the freed resources may help. */
  #unassume({ queued, profile: { at }, stopwatch }: Attempt, cycle: Cycle, nodeName: string, error: unknown): void {
    const { log, informers } = this.#deps
    stopwatch.end('error')
    const { pod: target } = queued
    for (const plugin of at.reserve.toReversed()) plugin.unreserve?.(cycle, nodeName)
    this.#binding.delete(target.metadata.uid)
    const now = informers.of(pod).get(keyOf(target))
    if (now !== undefined && isBound(now)) return
    this.#snapshot.remove(target)
    const freed = { ...target, spec: { ...target.spec, nodeName } }
    requeueOnEvent(this.#queueingHints, { kind: 'pod-removed', pod: freed }, noCause)
    if (hasReason(error, 'NotFound') || now === undefined || now.metadata.uid !== target.metadata.uid) return
    log.debug('a pod could not be bound', { pod: keyOf(target), node: nodeName, error: errorText(error) })
    this.#queue.retry({ ...queued, pod: now })
    this.#recordError(now, error, queued.cause)
  }

  /** Marks the pod as unschedulable and runs the PostFilter plugins. */
  #addUnschedulable(attempt: Attempt, found: Unschedulable): void {
    const { queued, stopwatch } = attempt
    this.#queue.addUnschedulable(queued, found.rejectedBy)
    stopwatch.end('unschedulable')
    const what = `queue → PreFilter → Filter: ${found.message}`
    const cause = this.#recordFlow(queued.pod, 'reconcile', what, queued.cause)
    this.#tasks.start('make room', (signal) => this.#runPostFilters(attempt, found, context(signal, cause)))
  }

  async #runPostFilters(
    { queued: { pod: target }, profile, stopwatch }: Attempt,
    { message, run }: Unschedulable,
    ctx: Context,
  ): Promise<void> {
    if (run === undefined) return this.#recordFailure(target, 'Unschedulable', message, undefined, ctx)
    stopwatch.resume()
    const running = runPostFilters(run, profile, this.#deps.log, ctx)
    const { nominated, failures, clearsNomination } = running instanceof Promise ? await running : running
    stopwatch.lap('PostFilter', nominated === undefined ? 'Unschedulable' : 'Success')
    const outcome = nominated === undefined ? failures.join(', ') : `room is made on ${nominated}`
    const cause = this.#recordFlow(target, 'step', `PostFilter: ${outcome}`, ctx.cause)
    const hasSuffix = nominated === undefined && failures.length > 0
    const whole = hasSuffix ? `${message} ${failures.join(', ')}` : message
    this.#recordDecision(target, run, undefined, whole, undefined)
    // Without this check, a pod that was deleted while an extender was called would be nominated forever.
    if (nominated !== undefined) this.#nominator.set(target, this.#isPending(target) ? nominated : undefined)
    else if (clearsNomination) this.#nominator.set(target, undefined)
    const nodeName = nominated ?? (clearsNomination ? '' : undefined)
    await this.#recordFailure(target, 'Unschedulable', whole, nodeName, withCause(ctx, cause))
  }

  /** Whether the pod still needs a node. */
  #isPending(target: Pod): boolean {
    const now = this.#deps.informers.of(pod).get(keyOf(target))
    return now !== undefined && now.metadata.uid === target.metadata.uid && !isBound(now) && !isBeingDeleted(now)
  }

  #recordError(target: Pod, error: unknown, cause: Cause): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#tasks.start('record an error', (signal) =>
      this.#recordFailure(target, 'SchedulerError', message, undefined, context(signal, cause)),
    )
  }

  async #recordFailure(
    target: Pod,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    nominated: string | undefined,
    ctx: Context,
  ): Promise<void> {
    const note = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message } as const
    this.#recordEvent(target, note, ctx)
    await markUnscheduled(target, reason, message, nominated, this.#deps, ctx)
  }

  #recordEvent(target: Pod, note: EventNote, { cause }: Pick<Context, 'cause'>): void {
    this.#recorderOf(target.spec.schedulerName).record(target, note, { cause })
  }

  #recorderOf(schedulerName: string): EventRecorder {
    return getOrInsert(this.#recorders, schedulerName, () => {
      const host = `${schedulerName}-coxswain`
      return new EventRecorder(this.#deps.client, schedulerName, {
        ...this.#deps,
        host,
        apiVersion: 'events.k8s.io/v1',
      })
    })
  }

  #recordFlow(target: Pod, arrow: 'reconcile' | 'step', what: string, cause: Cause): Cause {
    const subject = { resource: 'pods', namespace: namespaceOf(target), name: target.metadata.name }
    const event = this.#deps.flow.record(arrow, participant, participant, what, subject, 0, cause)
    return { ...causeOf(event), revisions: cause.revisions }
  }

  #recordDecision(
    target: Pod,
    { verdicts }: FilterRun,
    nodeName: string | undefined,
    message: string,
    scores?: Scores,
  ): void {
    const { clock, decisions } = this.#deps
    const { schedulerName } = target.spec
    const { names } = this.#snapshot
    decisions.record(keyOf(target), {
      atMs: clock.nowMs(),
      schedulerName,
      nodeName,
      message,
      names,
      verdicts,
      scores,
    })
  }
}

/** An error names the plugin, as upstream's events do. */
async function preBind(
  plugin: Profile['at']['preBind'][number],
  cycle: Cycle,
  nodeName: string,
  ctx: Context,
): Promise<void> {
  try {
    await plugin.preBind(cycle, nodeName, ctx)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`running PreBind plugin ${JSON.stringify(plugin.name)}: ${why}`, { cause: error })
  }
}
