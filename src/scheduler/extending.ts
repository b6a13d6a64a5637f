// What extenders add to a cycle: fewer fitting nodes, and points for those that are left.
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { errorText } from '../base/log.ts'
import type { Node } from '../api/core/v1/node.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { extenderScoreScale, type Extender } from './extender.ts'
import type { Filtering } from './filtering.ts'
import { rejection } from './framework.ts'
import type { Scores } from './scoring.ts'
import type { Snapshot } from './snapshot/snapshot.ts'

export interface ExtendingParts {
  readonly extenders: readonly Extender[]
  readonly clock: Clock
  readonly log: Log
}

const nodesAt = (snapshot: Snapshot, slots: Iterable<number>): Node[] =>
  [...slots].flatMap((slot) => snapshot.nodeAt(slot) ?? [])

export const interested = ({ extenders }: ExtendingParts, pod: Pod): readonly Extender[] =>
  extenders.filter((extender) => extender.isInterested(pod))

/** The nodes that every extender lets through; what they say about the others is kept with the verdicts. */
export async function filterByExtenders(
  run: Filtering,
  fitting: Int32Array,
  parts: ExtendingParts,
  signal: AbortSignal,
): Promise<Int32Array> {
  const { pod, snapshot } = run.cycle
  let slots = [...fitting]
  for (const { filter, url, isIgnorable } of interested(parts, pod)) {
    if (filter === undefined || slots.length === 0) continue
    try {
      const found = await filter(pod, nodesAt(snapshot, slots), signal)
      for (const slot of slots) {
        const name = snapshot.nameAt(slot)
        if (found.fitting.has(name)) continue
        const reason = found.failed.get(name) ?? 'node(s) were rejected by an extender'
        run.verdicts.rejects(slot, { plugin: url, rejection: rejection(reason, !found.unresolvable.has(name)) })
      }
      slots = slots.filter((slot) => found.fitting.has(snapshot.nameAt(slot)))
    } catch (error) {
      if (!isIgnorable) throw error
      parts.log.warn('an extender is left out', { extender: url, error: errorText(error) })
    }
  }
  return Int32Array.from(slots)
}

/** Adds the extenders' points to the totals; one that fails adds none. */
export async function scoreByExtenders(
  { slots, totals }: Scores,
  pod: Pod,
  snapshot: Snapshot,
  parts: ExtendingParts,
  signal: AbortSignal,
): Promise<void> {
  for (const { prioritize, weight, url } of interested(parts, pod)) {
    if (prioritize === undefined) continue
    try {
      const points = await prioritize(pod, nodesAt(snapshot, slots), signal)
      for (const [index, slot] of slots.entries())
        totals[index] =
          (totals[index] as number) + (points.get(snapshot.nameAt(slot)) ?? 0) * weight * extenderScoreScale
    } catch (error) {
      parts.log.warn('an extender gave no points', { extender: url, error: errorText(error) })
    }
  }
}
