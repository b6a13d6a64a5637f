// Scoring: the second half of a cycle. Each plugin scores every fitting node from 0 to 100; the highest weighted sum
// wins.
import type { Random } from '../../base/random/random.ts'
import { CycleBuffers } from './cycle-buffers.ts'
import type { Cycle } from '../framework/framework.ts'
import { noPointTimer, type PointTimer } from '../framework/attempt-metrics.ts'
import type { PluginAt, Profile } from '../framework/profile.ts'
import { EquivalenceClass } from './equivalence-cache.ts'
import type { SlotScores } from './slot-scores.ts'

/** The scores of each plugin for each node. */
export interface Scores {
  readonly slots: Int32Array
  readonly columns: readonly ScoreColumn[]
  readonly totals: Float64Array
}

export interface ScoreColumn {
  readonly plugin: string
  readonly values: Uint8Array
}

export function scoreNodes(
  cycle: Cycle,
  profile: Profile,
  slots: Int32Array,
  shared = new EquivalenceClass(),
  stopwatch: PointTimer = noPointTimer,
  buffers = new CycleBuffers(),
): Scores {
  const count = slots.length
  const totals = buffers.totals(count)
  const silent = new Set<string>()
  const states = new Map<string, unknown>()
  for (const plugin of profile.at.preScore) {
    const state = plugin.preScore(cycle, slots)
    if (state === undefined) {
      silent.add(plugin.name)
      continue
    }
    states.set(plugin.name, state)
    stopwatch.countCall('PreScore', plugin.name)
  }
  stopwatch.lap('PreScore')
  const columns: ScoreColumn[] = []
  for (const { plugin, weight } of profile.scoring) {
    if (silent.has(plugin.name)) continue
    stopwatch.countCall('Score', plugin.name)
    const state = states.get(plugin.name)
    const values = buffers.column(columns.length, count)
    const scores = buffers.numbers(count)
    if (plugin.isLocal) scoreLocally(cycle, plugin, slots, state, shared.scoresOf(plugin.name), scores)
    else for (let index = 0; index < count; index++) scores[index] = plugin.score(cycle, slots[index] as number, state)
    plugin.normalizeScores?.(scores, state, slots)
    addScores(scores, weight, totals, values)
    columns.push({ plugin: plugin.name, values })
  }
  stopwatch.lap('Score')
  return { slots, columns, totals }
}

/** Adds the weighted scores to the totals and stores them as bytes. */
function addScores(scores: Float64Array, weight: number, totals: Float64Array, values: Uint8Array): void {
  for (let index = 0; index < values.length; index++) {
    const score = scores[index] as number
    values[index] = score
    totals[index] = (totals[index] as number) + score * weight
  }
}

/** Calls the plugin only for nodes that changed since an equivalent pod was scored. */
function scoreLocally(
  cycle: Cycle,
  plugin: PluginAt<'score'>,
  slots: Int32Array,
  state: unknown,
  known: SlotScores,
  scores: Float64Array,
): void {
  const { versions } = cycle.snapshot
  const pairs = known.pairsFor(versions.length)
  for (let index = 0; index < slots.length; index++) {
    const slot = slots[index] as number
    const at = slot * 2
    const version = versions[slot] as number
    if (pairs[at] !== version) {
      pairs[at] = version
      pairs[at + 1] = plugin.score(cycle, slot, state)
    }
    scores[index] = pairs[at + 1] as number
  }
}

/** The slot with the highest total, at random among equals. */
export function bestOf({ slots, totals }: Scores, random: Random): number {
  let best = -1
  let equals = 0
  for (let index = 0; index < slots.length; index++) {
    const total = totals[index] as number
    const most = best < 0 ? -Infinity : (totals[best] as number)
    if (total > most) {
      best = index
      equals = 1
    } else if (total === most && random.below(++equals) === 0) best = index
  }
  return slots[best] ?? -1
}
