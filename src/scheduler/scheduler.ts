// The scheduler: takes pods from the queue, decides, assumes, binds. Binding runs beside the next decision.
import type { Clock } from '../base/clock.ts'
import { because, context, type Context } from '../base/context.ts'
import { causeOf, noCause, type Cause, type FlowRecorder } from '../base/flow.ts'
import { getOrMake } from '../base/get-or-make.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { turn } from '../base/turn.ts'
import { isBound, pod, type Pod } from '../api/core/v1/pod.ts'
import { keyOf, namespaceOf } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder, type EventNote } from '../client/event-recorder.ts'
import type { Informers } from '../client/informers.ts'
import { Attempts, type Attempt } from './attempt.ts'
import { watchCluster } from './cluster-watch.ts'
import { makeProfiles, type SchedulerConfiguration } from './configuration.ts'
import { CycleMemory } from './cycle-memory.ts'
import type { DecisionRecord } from './decisions.ts'
import type { Extender } from './extender.ts'
import { bindByExtender, filterByExtenders, interested, scoreByExtenders } from './extending.ts'
import { filterNodes, type Filtered } from './filtering.ts'
import type { Cycle, FilterRun, PluginParts, SchedulerPlugin } from './framework.ts'
import { makeRoom } from './make-room.ts'
import { measuredCall, QueueMetrics, type SchedulerMetrics } from './metrics.ts'
import { Nominator } from './nominator.ts'
import { markUnscheduled } from './pod-condition.ts'
import type { Profile } from './profile.ts'
import { SchedulingQueue, type Waiting } from './queue.ts'
import { bestOf, scoreNodes, type Scores } from './scoring.ts'
import { SharedFindings } from './shared-findings.ts'
import { podFacts } from './snapshot/pod-facts.ts'
import { Snapshot } from './snapshot/snapshot.ts'
import { summary } from './verdicts.ts'
import { wakeParked, type WakingParts } from './waking.ts'

export interface SchedulerParts {
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
/** Bindings under way at a time; further pods wait. */
const bindingsMax = 5_000
/** After so long the event loop gets a turn; later when more pods wait than after its last one, lest they queue up. */
const stretchMs = { usual: 5, behind: 10 }
/** Pods that wait are scheduled several in one go: their bindings, and all that follows from them, then walk abreast. */
const waveMax = 16
/** With so many bindings under way the API server has enough to do: pods are scheduled one by one. */
const waveBindingsMax = 128
const noNodes = 'no nodes available to schedule pods'

interface Unschedulable {
  readonly message: string
  readonly rejectedBy: ReadonlySet<string>
  readonly run: FilterRun | undefined
}

export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #snapshot = new Snapshot()
  readonly #nominator = new Nominator()
  readonly #shared = new SharedFindings()
  readonly #memory = new CycleMemory()
  readonly #queue: SchedulingQueue
  /** By the names of profiles: each tells in its own name. */
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #profiles: ReadonlyMap<string, Profile>
  readonly #attempts: Attempts
  readonly #cacheSizes
  readonly #bindings: { add(amount: number): void }
  readonly #waking: WakingParts
  /** Uids of pods that are assumed and not yet seen bound. */
  readonly #binding = new Set<string>()
  #bindingsUnderWay = 0
  readonly #tasks: TaskGroup
  #bindingsFree: (() => void) | undefined
  #nextStart = 0

  constructor(parts: SchedulerParts, tasks: TaskGroup) {
    this.#parts = parts
    this.#tasks = tasks
    const profiles = makeProfiles(parts.configuration, parts.plugins, (plugin, args, schedulerName) => ({
      ...plugin,
      ...plugin.configure?.(args, this.#pluginParts(schedulerName)),
    }))
    const { metrics, clock } = parts
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]))
    this.#attempts = new Attempts(profiles, metrics, clock)
    const sizeOf = (type: string) => metrics.cacheSize.with({ type })
    this.#cacheSizes = { nodes: sizeOf('nodes'), pods: sizeOf('pods'), assumed: sizeOf('assumed_pods') }
    this.#bindings = metrics.goroutines.with({ operation: 'binding' })
    const { podInitialBackoffSeconds = 1, podMaxBackoffSeconds = 10 } = parts.configuration
    this.#queue = new SchedulingQueue({
      clock,
      observer: new QueueMetrics(metrics),
      before: profiles[0]?.at.queueSort[0]?.queueSort ?? (() => 0),
      gate: (candidate) => this.#gateOf(candidate),
      backoff: { initialMs: podInitialBackoffSeconds * 1000, maxMs: podMaxBackoffSeconds * 1000 },
    })
    const [queue, ofName] = [this.#queue, this.#profiles]
    this.#waking = { queue, profiles: ofName, extenders: parts.extenders, metrics, clock }
  }

  start(): void {
    const tasks = this.#tasks
    const plugins = [...this.#profiles.values()].flatMap((profile) => profile.plugins)
    watchCluster({
      informers: this.#parts.informers,
      snapshot: this.#snapshot,
      nominator: this.#nominator,
      kinds: plugins.flatMap(({ watches = [] }) => watches),
      wake: (event, cause) => wakeParked(this.#waking, event, cause),
      onPending: (candidate, cause, isNews) => {
        if (this.#profiles.has(candidate.spec.schedulerName) && !this.#binding.has(candidate.metadata.uid))
          this.#queue.add(candidate, cause, isNews)
      },
      onSettled: (key, settled, isGone) => {
        this.#queue.remove(key)
        this.#binding.delete(settled.metadata.uid)
        if (isGone) this.#parts.decisions.forget(key)
      },
    })
    tasks.signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    tasks.start('scheduler', (signal) => this.#run(signal))
    for (const name of this.#profiles.keys())
      tasks.start(`events of ${name}`, (signal) => this.#recorderOf(name).run(signal))
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, informers } = this.#parts
    await informers.synced()
    let [sinceMs, leftBefore] = [clock.monotonicMs(), 0]
    const isLong = () => {
      const isBehind = this.#queue.activeCount > leftBefore
      return clock.monotonicMs() - sinceMs >= (isBehind ? stretchMs.behind : stretchMs.usual)
    }
    for (;;) {
      const first = await this.#queue.take(signal)
      if (first === undefined) return
      await this.#scheduleWave(first, isLong)
      if (this.#bindingsUnderWay >= bindingsMax) await new Promise<void>((resolve) => (this.#bindingsFree = resolve))
      if (!isLong()) continue
      leftBefore = this.#queue.activeCount
      await clock.outside(turn())
      sinceMs = clock.monotonicMs()
    }
  }

  async #scheduleWave(first: Waiting, isLong: () => boolean): Promise<void> {
    let waiting: Waiting | undefined = first
    for (let count = 1; waiting !== undefined; count++) {
      this.#measureCache()
      const attempt = this.#attempts.begin(waiting)
      try {
        const scheduled = this.#schedule(attempt)
        if (scheduled !== undefined) await scheduled
      } catch (error) {
        this.#failed(attempt, error)
      }
      const isFull = count === waveMax || this.#bindingsUnderWay >= waveBindingsMax
      waiting = isFull || isLong() || this.#tasks.signal.aborted ? undefined : this.#queue.next()
    }
  }

  #pluginParts(schedulerName: string): PluginParts {
    const { client, informers, clock, random, log, extenders, metrics } = this.#parts
    const [snapshot, nominator] = [this.#snapshot, this.#nominator]
    return {
      ...{ schedulerName, client, informers, clock, random, log, extenders, snapshot, nominator, metrics },
      tell: (target, note, ctx) => this.#recorderOf(schedulerName).record(target, note, ctx),
      letIn: (target) => {
        if (this.#queue.placeOf(keyOf(target)) === 'gated') this.#queue.activate(keyOf(target), noCause)
      },
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

  /** A promise only where somebody elsewhere has a say. */
  #schedule(attempt: Attempt): Promise<void> | undefined {
    const { waiting, profile, watch } = attempt
    const cycle: Cycle = { pod: waiting.pod, facts: podFacts(waiting.pod), snapshot: this.#snapshot }
    if (this.#snapshot.size === 0) {
      this.#park(attempt, { message: noNodes, rejectedBy: new Set(), run: undefined })
      return undefined
    }
    const filtered = filterNodes(cycle, profile, this.#nominator, this.#nextStart, this.#shared, watch, this.#memory)
    if (filtered.kind === 'filtered')
      this.#nextStart = (this.#nextStart + filtered.lookedAt) % Math.max(1, this.#snapshot.size)
    if (interested(this.#parts, waiting.pod).length > 0) return this.#scheduleExtended(attempt, filtered)
    this.#conclude(attempt, filtered, this.#scores(attempt, filtered))
    return undefined
  }

  /** Somebody elsewhere has a say: the cycle waits for the answers, and the next pod with it. */
  async #scheduleExtended(attempt: Attempt, filtered: Filtered): Promise<void> {
    const { signal } = this.#tasks
    const { cycle } = filtered.run
    try {
      if (filtered.kind === 'rejected') return this.#conclude(attempt, filtered, undefined)
      const fitting = await filterByExtenders(filtered.run, filtered.fitting, this.#parts, signal)
      const extended = { ...filtered, fitting }
      attempt.watch.resume()
      const scores = this.#scores(attempt, extended)
      if (scores !== undefined) await scoreByExtenders(scores, cycle.pod, cycle.snapshot, this.#parts, signal)
      this.#conclude(attempt, extended, scores)
    } catch (error) {
      if (!signal.aborted) this.#failed(attempt, error)
    }
  }

  /** Undefined when there is nothing to choose from. */
  #scores({ profile, watch }: Attempt, filtered: Filtered): Scores | undefined {
    if (filtered.kind === 'rejected' || filtered.fitting.length < 2) return undefined
    const { run, fitting } = filtered
    return scoreNodes(run.cycle, profile, fitting, run.shared, watch, this.#memory)
  }

  /** A cycle that fails is nobody else's business: the pod comes again after its back-off. */
  #failed({ waiting, watch }: Attempt, error: unknown): void {
    watch.end('error')
    this.#parts.log.warn('a pod could not be scheduled', { pod: keyOf(waiting.pod), error: errorText(error) })
    this.#queue.retry(waiting)
    this.#tellError(waiting.pod, error, waiting.cause)
  }

  #conclude(attempt: Attempt, filtered: Filtered, scores: Scores | undefined): void {
    attempt.watch.decided()
    const unschedulable = this.#unschedulable(filtered)
    if (unschedulable !== undefined) return this.#park(attempt, unschedulable)
    if (filtered.kind !== 'filtered') return
    const { fitting, run } = filtered
    const slot = scores === undefined ? (fitting[0] ?? -1) : bestOf(scores, this.#parts.random)
    const nodeName = this.#snapshot.nameAt(slot)
    if (nodeName === '') throw new Error('the node went away while extenders were asked')
    this.#remember(attempt.waiting.pod, run, nodeName, '', scores)
    this.#assume(attempt, run.cycle, nodeName, fitting.length)
  }

  #unschedulable(filtered: Filtered): Unschedulable | undefined {
    const { size } = this.#snapshot
    const { run } = filtered
    if (filtered.kind === 'rejected') {
      const { plugin, rejection } = filtered.by
      for (const slot of this.#snapshot.order) run.verdicts.rejects(slot, filtered.by)
      const message = `0/${size} nodes are available: ${rejection.reasons.join(', ')}.`
      return { message, rejectedBy: new Set([plugin]), run }
    }
    if (filtered.fitting.length > 0) return undefined
    return { message: summary(size, run.verdicts.reasonCounts()), rejectedBy: run.verdicts.rejectedBy(), run }
  }

  /** Counts the pod on its node before anybody is told, and starts the binding. */
  #assume(attempt: Attempt, cycle: Cycle, nodeName: string, fittingCount: number): void {
    const { pod: target, cause: wokenBy } = attempt.waiting
    this.#snapshot.place(target, nodeName)
    this.#binding.add(target.metadata.uid)
    const score = fittingCount > 1 ? ' → Score' : ''
    const what = `queue → PreFilter → Filter ${fittingCount} of ${this.#snapshot.size}${score} → Reserve ${nodeName}`
    const cause = this.#record(target, 'reconcile', what, wokenBy)
    this.#tasks.start('bind', (signal) => this.#bind(attempt, cycle, nodeName, context(signal, cause)))
  }

  async #bind(attempt: Attempt, cycle: Cycle, nodeName: string, ctx: Context): Promise<void> {
    const { client, metrics, clock } = this.#parts
    const { waiting, profile, watch } = attempt
    const { at } = profile
    const { pod: target } = waiting
    this.#bindingsUnderWay++
    this.#bindings.add(1)
    watch.resume()
    try {
      for (const plugin of at.reserve) plugin.reserve(cycle, nodeName)
      watch.lap('Reserve')
      if (at.permit.length > 0) await this.#permit(attempt, cycle, nodeName, ctx)
      watch.lap('Permit')
      for (const plugin of at.preBind) await plugin.preBind(cycle, nodeName, ctx)
      watch.lap('PreBind')
      const bound = because(ctx, this.#record(target, 'step', `Permit → PreBind → Bind ${nodeName}`, ctx.cause))
      if (!(await bindByExtender(target, nodeName, this.#parts, ctx.signal)))
        for (const plugin of at.bind)
          if (await measuredCall('pod_binding', metrics, clock, () => plugin.bind(cycle, nodeName, client, bound)))
            break
      watch.lap('Bind')
      for (const plugin of at.postBind) plugin.postBind(cycle, nodeName)
      watch.lap('PostBind')
    } catch (error) {
      if (!ctx.signal.aborted) this.#takeBack(attempt, cycle, nodeName, error)
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
    this.#tell(target, note, ctx)
  }

  async #permit({ profile: { at } }: Attempt, cycle: Cycle, nodeName: string, ctx: Context): Promise<void> {
    const { metrics, clock } = this.#parts
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

  /** The pod was not bound: nothing of the attempt stays, and whoever waited for the room hears of it. */
  #takeBack({ waiting, profile: { at }, watch }: Attempt, cycle: Cycle, nodeName: string, error: unknown): void {
    const { log, informers } = this.#parts
    watch.end('error')
    const { pod: target } = waiting
    for (const plugin of at.reserve.toReversed()) plugin.unreserve?.(cycle, nodeName)
    this.#binding.delete(target.metadata.uid)
    const now = informers.of(pod).get(keyOf(target))
    if (now !== undefined && isBound(now)) return
    this.#snapshot.remove(target)
    const freed = { ...target, spec: { ...target.spec, nodeName } }
    wakeParked(this.#waking, { kind: 'pod-removed', pod: freed }, noCause)
    if (hasReason(error, 'NotFound') || now === undefined || now.metadata.uid !== target.metadata.uid) return
    log.debug('a pod could not be bound', { pod: keyOf(target), node: nodeName, error: errorText(error) })
    this.#queue.retry({ ...waiting, pod: now })
    this.#tellError(now, error, waiting.cause)
  }

  /** Nothing fits: the pod waits, is told why, and room is made for it if some plugin can. */
  #park(attempt: Attempt, found: Unschedulable): void {
    const { waiting, watch } = attempt
    this.#queue.park(waiting, found.rejectedBy)
    watch.end('unschedulable')
    const what = `queue → PreFilter → Filter: ${found.message}`
    const cause = this.#record(waiting.pod, 'reconcile', what, waiting.cause)
    this.#tasks.start('make room', (signal) => this.#makeRoom(attempt, found, context(signal, cause)))
  }

  async #makeRoom(
    { waiting: { pod: target }, profile, watch }: Attempt,
    { message, run }: Unschedulable,
    ctx: Context,
  ): Promise<void> {
    if (run === undefined) return this.#tellFailure(target, 'Unschedulable', message, undefined, ctx)
    watch.resume()
    const { nominated, failures, forgetsNomination } = await makeRoom(run, profile, this.#parts.log, ctx)
    watch.lap('PostFilter', nominated === undefined ? 'Unschedulable' : 'Success')
    const outcome = nominated === undefined ? failures.join(', ') : `room is made on ${nominated}`
    const cause = this.#record(target, 'step', `PostFilter: ${outcome}`, ctx.cause)
    const hasSuffix = nominated === undefined && failures.length > 0
    const whole = hasSuffix ? `${message} ${failures.join(', ')}` : message
    this.#remember(target, run, undefined, whole, undefined)
    if (nominated !== undefined) this.#nominator.set(target, nominated)
    else if (forgetsNomination) this.#nominator.set(target, undefined)
    const nodeName = nominated ?? (forgetsNomination ? '' : undefined)
    await this.#tellFailure(target, 'Unschedulable', whole, nodeName, because(ctx, cause))
  }

  #tellError(target: Pod, error: unknown, cause: Cause): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#tasks.start('tell an error', (signal) =>
      this.#tellFailure(target, 'SchedulerError', message, undefined, context(signal, cause)),
    )
  }

  async #tellFailure(
    target: Pod,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    nominated: string | undefined,
    ctx: Context,
  ): Promise<void> {
    const note = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message } as const
    this.#tell(target, note, ctx)
    await markUnscheduled(target, reason, message, nominated, this.#parts, ctx)
  }

  #tell(target: Pod, note: EventNote, { cause }: Pick<Context, 'cause'>): void {
    this.#recorderOf(target.spec.schedulerName).record(target, note, { cause })
  }

  #recorderOf(schedulerName: string): EventRecorder {
    return getOrMake(this.#recorders, schedulerName, () => {
      const host = `${schedulerName}-coxswain`
      return new EventRecorder(this.#parts.client, schedulerName, { ...this.#parts, host, form: 'events.k8s.io/v1' })
    })
  }

  #record(target: Pod, arrow: 'reconcile' | 'step', what: string, cause: Cause): Cause {
    const subject = { resource: 'pods', namespace: namespaceOf(target), name: target.metadata.name }
    const event = this.#parts.flow.record(arrow, participant, participant, what, subject, 0, cause)
    return { ...causeOf(event), revisions: cause.revisions }
  }

  #remember(
    target: Pod,
    { verdicts }: FilterRun,
    nodeName: string | undefined,
    message: string,
    scores?: Scores,
  ): void {
    const { clock, decisions } = this.#parts
    const { schedulerName } = target.spec
    const { names } = this.#snapshot
    decisions.remember(keyOf(target), {
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
