// Calls to extenders in a cycle: filter, score, preempt and bind.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { extenderScoreScale, type AgreedVictims, type Extender } from '../framework/extender.ts'
import type { Filtering } from './filtering.ts'
import { rejection } from '../framework/framework.ts'
import { byImportance, candidate, type Candidate } from '../preemption/preemption.ts'
import type { Scores } from './scoring.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'

export interface ExtenderDeps {
  readonly extenders: readonly Extender[]
  readonly clock: Clock
  readonly log: Log
}

const nodesAt = (snapshot: Snapshot, slots: Iterable<number>): Node[] =>
  [...slots].flatMap((slot) => snapshot.nodeAt(slot) ?? [])

export const interestedExtenders = ({ extenders }: ExtenderDeps, pod: Pod): readonly Extender[] =>
  extenders.filter((extender) => extender.isInterested(pod))

/** The nodes that every extender accepts. Rejections are recorded as verdicts. */
export async function filterByExtenders(
  run: Filtering,
  fitting: Int32Array,
  deps: ExtenderDeps,
  signal: AbortSignal,
): Promise<Int32Array> {
  const { pod, snapshot } = run.cycle
  let slots = [...fitting]
  for (const { filter, url, isIgnorable } of interestedExtenders(deps, pod)) {
    if (filter === undefined || slots.length === 0) continue
    try {
      const found = await filter(pod, nodesAt(snapshot, slots), signal)
      for (const slot of slots) {
        const name = snapshot.nameAt(slot)
        if (found.fitting.has(name)) continue
        const reason = found.failed.get(name) ?? 'node(s) were rejected by an extender'
        run.verdicts.reject(slot, { plugin: url, rejection: rejection(reason, !found.unresolvable.has(name)) })
      }
      slots = slots.filter((slot) => found.fitting.has(snapshot.nameAt(slot)))
    } catch (error) {
      if (!isIgnorable) throw error
      deps.log.warn('an extender failed and is ignored', { extender: url, error: errorText(error) })
    }
  }
  return Int32Array.from(slots)
}

/** Adds the extenders' weighted scores to the totals. An extender that fails adds none. */
export async function scoreByExtenders(
  { slots, totals }: Scores,
  pod: Pod,
  snapshot: Snapshot,
  deps: ExtenderDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const { prioritize, weight, url } of interestedExtenders(deps, pod)) {
    if (prioritize === undefined) continue
    try {
      const points = await prioritize(pod, nodesAt(snapshot, slots), signal)
      for (const [index, slot] of slots.entries())
        totals[index] =
          (totals[index] as number) + (points.get(snapshot.nameAt(slot)) ?? 0) * weight * extenderScoreScale
    } catch (error) {
      deps.log.warn('an extender failed to score', { extender: url, error: errorText(error) })
    }
  }
}

/** The candidates that every extender accepts, with the victims that it chose. */
export async function preemptWithExtenders(
  pod: Pod,
  candidates: readonly Candidate[],
  snapshot: Snapshot,
  deps: ExtenderDeps,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  let agreed = candidates
  for (const { preempt, isIgnorable, url } of interestedExtenders(deps, pod)) {
    if (preempt === undefined || agreed.length === 0) continue
    const proposed = new Map(
      agreed.map(({ slot, victims, violations }) => [
        snapshot.nameAt(slot),
        { pods: victims.map((victim) => victim.pod), violations },
      ]),
    )
    try {
      const answer = await preempt(pod, proposed, signal)
      agreed = agreed.flatMap(({ slot }) => withAgreed(slot, answer, snapshot, isIgnorable))
    } catch (error) {
      if (!isIgnorable) throw error
      deps.log.warn('an extender failed and is ignored', { extender: url, error: errorText(error) })
    }
  }
  return agreed
}

function withAgreed(slot: number, answer: AgreedVictims, snapshot: Snapshot, isIgnorable: boolean): Candidate[] {
  const node = snapshot.nameAt(slot)
  const found = answer.get(node)
  if (found === undefined) return []
  const onNode = [...snapshot.podsOn(slot)].toSorted(byImportance)
  const stray = found.uids.find((uid) => !onNode.some((placed) => placed.pod.metadata.uid === uid))
  if (stray !== undefined) throw new Error(`an extender returned the victim ${stray}, which is not on node ${node}`)
  if (found.uids.length === 0) {
    if (isIgnorable) return []
    throw new Error(`expected at least one victim pod on node ${JSON.stringify(node)}`)
  }
  const victims = onNode.filter((placed) => found.uids.includes(placed.pod.metadata.uid))
  return [candidate(slot, victims, found.violations)]
}

/** Whether an extender has bound the pod. If an ignorable extender fails, the bind plugins take over. */
export async function bindByExtender(
  pod: Pod,
  nodeName: string,
  deps: ExtenderDeps,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { bind, isIgnorable, url } of interestedExtenders(deps, pod)) {
    if (bind === undefined) continue
    try {
      await bind(pod, nodeName, signal)
      return true
    } catch (error) {
      if (!isIgnorable) throw error
      deps.log.warn('an extender failed to bind', { extender: url, error: errorText(error) })
    }
  }
  return false
}
