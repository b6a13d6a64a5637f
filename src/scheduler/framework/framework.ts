// The scheduler framework: upstream's extension points as one interface with optional methods. A plugin implements the
// ones it needs. What it computes once per pod it returns as its state, and it gets the state back for each node.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { BoundPod, Pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { NodeVerdict, Rejection, Verdicts } from './verdicts.ts'
import type { Extender } from './extender.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'
import type { Nominator } from './nominator.ts'
import type { PodFacts } from '../snapshot/pod-facts.ts'
import type { PlacedPod, Snapshot } from '../snapshot/snapshot.ts'

export { rejection, type Rejection } from './verdicts.ts'

/** The result of PreFilter. `skip`: the plugin's Filter is not called in this cycle. */
export type PreFilterResult<State> =
  | { readonly kind: 'skip' }
  | Rejection
  /** `nodes`: only these nodes are evaluated. */
  | { readonly kind: 'check'; readonly state: State; readonly nodes?: ReadonlySet<string> }

export const skip = { kind: 'skip' } as const

/** The data that extension points of one cycle share. */
export interface Cycle {
  readonly pod: Pod
  readonly facts: PodFacts
  readonly snapshot: Snapshot
}

/** The filters of one cycle. Preemption uses them to simulate the removal of pods. */
export interface FilterRun {
  readonly cycle: Cycle
  readonly verdicts: Verdicts
  /** The plugin whose PreFilter has rejected the pod. The PreFilter of later plugins did not run. */
  readonly preFilterRejectedBy: string | undefined
  /** Undefined when the node fits. */
  check(slot: number): NodeVerdict | undefined
  /** Whether the verdict on a node depends only on that node and its pods. */
  readonly isLocal: boolean
  removePod(placed: PlacedPod): void
  addPod(placed: PlacedPod): void
}

export type PostFilterResult =
  | { readonly kind: 'nominated'; readonly nodeName: string }
  | { readonly kind: 'failed'; readonly message: string; readonly clearsNomination: boolean }

/** Changes in the cluster that may make an unschedulable pod schedulable. */
export type ClusterEvent =
  | { readonly kind: 'node-added'; readonly node: Node }
  | { readonly kind: 'node-changed'; readonly node: Node; readonly before: Node }
  | { readonly kind: 'pod-placed'; readonly pod: BoundPod }
  | { readonly kind: 'pod-changed'; readonly pod: BoundPod; readonly before: BoundPod }
  | { readonly kind: 'pod-removed'; readonly pod: BoundPod }
  /** An object of a kind that a plugin watches; `now` is undefined after its deletion. */
  | {
      readonly kind: 'object-changed'
      readonly resource: string
      readonly now: ApiObject | undefined
      readonly before: ApiObject | undefined
    }

/** Dependencies of plugins, passed when a profile is created. */
export interface PluginDeps {
  readonly schedulerName: string
  readonly snapshot: Snapshot
  readonly nominator: Nominator
  readonly extenders: readonly Extender[]
  readonly client: Client
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: SchedulerMetrics
  /** Records an event about a pod. */
  recordEvent(pod: Pod, note: EventNote, context: Context): void
  /** Runs PreEnqueue again for a gated pod. */
  retryPreEnqueue(pod: Pod): void
  /** Schedules a rejected pod again after its backoff, without an event. */
  retryAfterBackoff(pod: Pod): void
  /** Runs concurrently with the cycle until it ends or the scheduler stops. */
  startTask(name: string, task: (signal: AbortSignal) => Promise<void>): void
}

export interface SchedulerPlugin<Filtering = unknown, Scoring = unknown> {
  readonly name: string
  /** The arguments are upstream's type of that name with Args: `NodeAffinityArgs`. */
  configure?(args: unknown, deps: PluginDeps): Partial<SchedulerPlugin<Filtering, Scoring>>
  /** Kinds besides nodes and pods whose changes are relevant. */
  readonly watches?: readonly Kind[]
  /** Returns the reason why the pod may not enter the queue. */
  preEnqueue?(pod: Pod): string | undefined
  /** Negative when `a` goes first. */
  queueSort?(a: Pod, b: Pod): number
  preFilter?(cycle: Cycle): PreFilterResult<Filtering>
  /**
   * The plugin depends only on the pod's requirements, the node and its pods, so equivalent pods share its verdicts and
   * scores.
   */
  readonly isLocal?: true
  /** Undefined when the node fits. */
  filter?(cycle: Cycle, slot: number, state: Filtering): Rejection | undefined
  /** Updates the state when a pod is removed from its node, or added again, during a simulation. */
  updateState?(cycle: Cycle, state: Filtering, placed: PlacedPod, by: 1 | -1): void
  /** Called when no node fits. May free resources on a node and nominate it. */
  postFilter?(run: FilterRun, context: Context): PostFilterResult | Promise<PostFilterResult>
  /** Undefined when the plugin does not score this pod. */
  preScore?(cycle: Cycle, slots: Int32Array): Scoring | undefined
  /** 0 to 100 after normalizeScores. */
  score?(cycle: Cycle, slot: number, state: Scoring): number
  normalizeScores?(scores: Float64Array, state: Scoring, slots: Int32Array): void
  readonly weight?: number
  /** Throws when the resources of the pod cannot be reserved. */
  reserve?(cycle: Cycle, nodeName: string): void
  unreserve?(cycle: Cycle, nodeName: string): void
  permit?(cycle: Cycle, nodeName: string, context: Context): Promise<Rejection | undefined>
  preBind?(cycle: Cycle, nodeName: string, context: Context): Promise<void>
  /** Returns whether it has bound the pod. */
  bind?(cycle: Cycle, nodeName: string, client: Client, context: Context): Promise<boolean>
  postBind?(cycle: Cycle, nodeName: string): void
  /**
   * Events that may make a pod schedulable that this plugin rejected; all events when omitted. For `object-changed`
   * only the kinds that it watches.
   */
  readonly eventsToRegister?: readonly ClusterEvent['kind'][]
  /** Whether such an event may make this pod schedulable. */
  queueingHint?(event: ClusterEvent, pod: Pod): boolean
}

export const scoreMax = 100

export const defineSchedulerPlugin = <Filtering, Scoring>(
  plugin: SchedulerPlugin<Filtering, Scoring>,
): SchedulerPlugin => plugin

/** Scales the scores so that the largest becomes the maximum, or 0 when reversed. */
export function scaleScores(scores: Float64Array, isReversed: boolean): void {
  let most = 0
  for (let index = 0; index < scores.length; index++) most = Math.max(most, scores[index] as number)
  if (most === 0) return void scores.fill(isReversed ? scoreMax : 0)
  for (let index = 0; index < scores.length; index++) {
    const share = Math.floor(((scores[index] as number) * scoreMax) / most)
    scores[index] = isReversed ? scoreMax - share : share
  }
}
