// The scheduler framework: upstream's extension points as one optional interface. A plugin is a value that fills in
// those it needs; the cycle asks them in order. What a plugin works out once per pod it returns as a state, which it
// gets back for each node.
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

/** What a first look at the pod says. `skip`: the plugin's filter need not be asked about any node. */
export type PreFilterResult<State> =
  | { readonly kind: 'skip' }
  | Rejection
  /** `nodes`: no others need be looked at. */
  | { readonly kind: 'check'; readonly state: State; readonly nodes?: ReadonlySet<string> }

export const skip = { kind: 'skip' } as const

/** What one scheduling cycle carries from point to point. */
export interface Cycle {
  readonly pod: Pod
  readonly facts: PodFacts
  readonly snapshot: Snapshot
}

/** The filters of one cycle, for those who ask what would be if other pods were gone. */
export interface FilterRun {
  readonly cycle: Cycle
  readonly verdicts: Verdicts
  /** Undefined when the node fits. */
  check(slot: number): NodeVerdict | undefined
  /** Whether the verdict on a node follows from that node and its pods alone. */
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
  /** An object of a kind that a plugin watches; `now` is undefined when it has gone. */
  | {
      readonly kind: 'object-changed'
      readonly resource: string
      readonly now: ApiObject | undefined
      readonly before: ApiObject | undefined
    }

/** What plugins are given when a profile is made. */
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
  /** Tells what happened to a pod. */
  recordEvent(pod: Pod, note: EventNote, context: Context): void
  /** Asks again whether a pod that was kept out of the queue may enter it. */
  retryPreEnqueue(pod: Pod): void
  /** Runs beside the cycle until it ends or the scheduler does. */
  startTask(name: string, task: (signal: AbortSignal) => Promise<void>): void
}

export interface SchedulerPlugin<Filtering = unknown, Scoring = unknown> {
  readonly name: string
  /** Upstream's name for its arguments ends in Args: `NodeAffinityArgs`. */
  configure?(args: unknown, deps: PluginDeps): Partial<SchedulerPlugin<Filtering, Scoring>>
  /** Kinds beside nodes and pods whose changes it wants to hear of. */
  readonly watches?: readonly Kind[]
  /** Whether the pod may enter the queue; a reason keeps it out. */
  preEnqueue?(pod: Pod): string | undefined
  /** Negative when `a` goes first. */
  queueSort?(a: Pod, b: Pod): number
  preFilter?(cycle: Cycle): PreFilterResult<Filtering>
  /** It looks at the pod's demands, the node and its pods alone: pods that are alike share its verdicts and scores. */
  readonly isLocal?: true
  /** Undefined when the node fits. */
  filter?(cycle: Cycle, slot: number, state: Filtering): Rejection | undefined
  /** Keeps the state true when a pod is taken from its node, or put back, to see what would be. */
  updateState?(cycle: Cycle, state: Filtering, placed: PlacedPod, by: 1 | -1): void
  /** When no node fits: may make room on one and nominate it. */
  postFilter?(run: FilterRun, context: Context): PostFilterResult | Promise<PostFilterResult>
  /** Undefined when it has nothing to say about any node. */
  preScore?(cycle: Cycle, slots: Int32Array): Scoring | undefined
  /** 0 to 100, or whatever normalizeScores turns into that. */
  score?(cycle: Cycle, slot: number, state: Scoring): number
  normalizeScores?(scores: Float64Array, state: Scoring, slots: Int32Array): void
  readonly weight?: number
  /** Throws when what the pod needs cannot be set aside. */
  reserve?(cycle: Cycle, nodeName: string): void
  unreserve?(cycle: Cycle, nodeName: string): void
  permit?(cycle: Cycle, nodeName: string, context: Context): Promise<Rejection | undefined>
  preBind?(cycle: Cycle, nodeName: string, context: Context): Promise<void>
  /** Returns whether it has bound the pod. */
  bind?(cycle: Cycle, nodeName: string, client: Client, context: Context): Promise<boolean>
  postBind?(cycle: Cycle, nodeName: string): void
  /** What can help a pod that this plugin has rejected; anything, when left out. Of objects those that it watches. */
  readonly eventsToRegister?: readonly ClusterEvent['kind'][]
  /** Whether such an event really can help. */
  queueingHint?(event: ClusterEvent, pod: Pod): boolean
}

export const scoreMax = 100

export const defineSchedulerPlugin = <Filtering, Scoring>(
  plugin: SchedulerPlugin<Filtering, Scoring>,
): SchedulerPlugin => plugin

/** Scales so that the largest becomes the maximum, or the other way round. */
export function scaleScores(scores: Float64Array, isReversed: boolean): void {
  let most = 0
  for (let index = 0; index < scores.length; index++) most = Math.max(most, scores[index] as number)
  if (most === 0) return void scores.fill(isReversed ? scoreMax : 0)
  for (let index = 0; index < scores.length; index++) {
    const share = Math.floor(((scores[index] as number) * scoreMax) / most)
    scores[index] = isReversed ? scoreMax - share : share
  }
}
