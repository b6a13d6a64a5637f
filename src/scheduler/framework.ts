// The scheduler framework: upstream's extension points as one optional interface. A plugin is a value that fills in
// those it needs; the cycle asks them in order.
import type { Context } from '../base/context.ts'
import type { Node } from '../api/core/v1/node.ts'
import type { BoundPod, Pod } from '../api/core/v1/pod.ts'
import type { Client } from '../client/client.ts'
import type { NodeState, Snapshot } from './snapshot.ts'

export type Verdict =
  | { readonly kind: 'fits' }
  /** `resolvable`: removing pods from the node could help. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly resolvable: boolean }

export const fits: Verdict = { kind: 'fits' }

/** What one scheduling cycle carries from point to point. */
export interface Cycle {
  readonly pod: Pod
  readonly snapshot: Snapshot
}

/** Changes in the cluster that may make an unschedulable pod schedulable. */
export type WakeEvent =
  | { readonly kind: 'node-added'; readonly node: Node }
  | { readonly kind: 'node-changed'; readonly node: Node; readonly before: Node }
  | { readonly kind: 'pod-removed'; readonly pod: BoundPod }

export interface SchedulerPlugin {
  readonly name: string
  /** Whether the pod may enter the queue; a reason keeps it out. */
  preEnqueue?(pod: Pod): string | undefined
  /** Negative when `a` goes first. */
  queueSort?(a: Pod, b: Pod): number
  /** A first look at the pod alone; a rejection ends the cycle. */
  preFilter?(cycle: Cycle): Verdict
  filter?(cycle: Cycle, node: NodeState): Verdict
  /** When no node fits: may nominate one, after making room. */
  postFilter?(cycle: Cycle, verdicts: ReadonlyMap<string, Verdict>, context: Context): Promise<string | undefined>
  preScore?(cycle: Cycle, nodes: readonly NodeState[]): void
  /** 0 to 100, or whatever normalizeScores turns into that. */
  score?(cycle: Cycle, node: NodeState): number
  normalizeScores?(scores: Map<string, number>): void
  readonly weight?: number
  reserve?(cycle: Cycle, nodeName: string): void
  unreserve?(cycle: Cycle, nodeName: string): void
  permit?(cycle: Cycle, nodeName: string, context: Context): Promise<Verdict>
  preBind?(cycle: Cycle, nodeName: string, context: Context): Promise<void>
  /** Returns whether it has bound the pod. */
  bind?(cycle: Cycle, nodeName: string, client: Client, context: Context): Promise<boolean>
  postBind?(cycle: Cycle, nodeName: string): void
  /** Whether the event can help a pod that this plugin has rejected. */
  wakesOn?(event: WakeEvent, pod: Pod): boolean
}

export const scoreMax = 100

export const defineSchedulerPlugin = (plugin: SchedulerPlugin): SchedulerPlugin => plugin
