// Filtering: the first half of a cycle. Each plugin evaluates the pod once, then one node after the other, until enough
// nodes fit.
import { CycleBuffers } from './cycle-buffers.ts'
import { rejection, type Cycle, type FilterRun, type Rejection } from '../framework/framework.ts'
import { noPointTimer, type PointTimer } from '../framework/attempt-metrics.ts'
import type { Nominator } from '../framework/nominator.ts'
import type { PluginAt, Profile } from '../framework/profile.ts'
import { EquivalenceClass, EquivalenceCache } from './equivalence-cache.ts'
import type { PlacedPod } from '../snapshot/snapshot.ts'
import { Verdicts, type NodeVerdict } from '../framework/verdicts.ts'

interface Check {
  readonly plugin: PluginAt<'filter'>
  readonly state: unknown
}

export type Filtered =
  | { readonly kind: 'filtered'; readonly run: Filtering; readonly fitting: Int32Array; readonly evaluated: number }
  /** A plugin rejected the pod in PreFilter. */
  | { readonly kind: 'rejected'; readonly run: Filtering; readonly by: NodeVerdict }

export class Filtering implements FilterRun {
  readonly cycle: Cycle
  readonly verdicts: Verdicts
  readonly equivalenceClass: EquivalenceClass
  readonly preFilterRejectedBy: string | undefined
  readonly #nominator: Nominator
  /** The leading local plugins, whose verdicts are cached, and all others. */
  readonly #local: readonly Check[]
  readonly #others: readonly Check[]
  #last: NodeVerdict | undefined

  constructor(
    cycle: Cycle,
    nominator: Nominator,
    checks: readonly Check[],
    equivalenceClass: EquivalenceClass,
    preFilterRejectedBy?: string,
  ) {
    this.cycle = cycle
    this.verdicts = new Verdicts(cycle.snapshot.names.length)
    this.#nominator = nominator
    this.equivalenceClass = equivalenceClass
    this.preFilterRejectedBy = preFilterRejectedBy
    const firstOther = checks.findIndex(({ plugin }) => !plugin.isLocal)
    this.#local = firstOther < 0 ? checks : checks.slice(0, firstOther)
    this.#others = firstOther < 0 ? [] : checks.slice(firstOther)
  }

  get isLocal(): boolean {
    return this.#others.length === 0
  }

  /** Whether the cached verdict for a node is the complete one. */
  get #isShared(): boolean {
    return this.isLocal && this.#nominator.isEmpty
  }

  /** Evaluates nodes in their order from `start`, until `room` is full. */
  find(start: number, room: Int32Array): { readonly fitting: Int32Array; readonly evaluated: number } {
    const { order, size, versions } = this.cycle.snapshot
    const { verdicts: known } = this.equivalenceClass
    const isShared = this.#isShared
    let found = 0
    let evaluated = 0
    let place = size === 0 ? 0 : start % size
    for (; evaluated < size && found < room.length; evaluated++) {
      const slot = order[place] as number
      if (++place === size) place = 0
      const isKnown = isShared && known.versions[slot] === versions[slot]
      const verdict = isKnown ? known.values[slot] : this.check(slot)
      if (verdict === undefined) room[found++] = slot
      else this.verdicts.reject(slot, verdict)
    }
    const fitting = found === room.length ? room : room.subarray(0, found)
    this.verdicts.accept(fitting)
    return { fitting, evaluated }
  }

  /** Pods that are nominated to the node count as present. The pod must also fit without them. */
  check(slot: number): NodeVerdict | undefined {
    const nominatedPods = this.#nominator.isEmpty ? [] : this.#nominatedPodsOn(slot)
    if (nominatedPods.length === 0) return this.#checkPlain(slot)
    const { snapshot } = this.cycle
    const placed = nominatedPods.map((rival) => snapshot.place(rival, snapshot.nameAt(slot)))
    for (const each of placed) this.#updateStates(each, 1)
    let found: NodeVerdict | undefined
    try {
      found = this.#checkPlain(slot)
    } finally {
      // A filter may throw. The snapshot outlives the cycle.
      for (const each of placed) this.removePod(each)
    }
    return found ?? this.#checkPlain(slot)
  }

  removePod(placed: PlacedPod): void {
    this.cycle.snapshot.remove(placed.pod)
    this.#updateStates(placed, -1)
  }

  addPod(placed: PlacedPod): void {
    const { snapshot } = this.cycle
    snapshot.place(placed.pod, snapshot.nameAt(placed.slot))
    this.#updateStates(placed, 1)
  }

  #nominatedPodsOn(slot: number) {
    const { facts, pod, snapshot } = this.cycle
    return [...this.#nominator.nominatedTo(snapshot.nameAt(slot))].filter(
      (rival) =>
        rival.metadata.uid !== pod.metadata.uid &&
        (rival.spec.priority ?? 0) >= facts.priority &&
        snapshot.placement(rival) === undefined,
    )
  }

  #checkPlain(slot: number): NodeVerdict | undefined {
    const version = this.cycle.snapshot.versionOf(slot)
    const { verdicts } = this.equivalenceClass
    if (!verdicts.has(slot, version)) verdicts.set(slot, version, this.#evaluate(this.#local, slot))
    const found = verdicts.get(slot)
    return found !== undefined || this.#others.length === 0 ? found : this.#evaluate(this.#others, slot)
  }

  #evaluate(checks: readonly Check[], slot: number): NodeVerdict | undefined {
    for (let index = 0; index < checks.length; index++) {
      const { plugin, state } = checks[index] as Check
      const found = plugin.filter(this.cycle, slot, state)
      if (found !== undefined) return this.#verdictOf(plugin.name, found)
    }
    return undefined
  }

  /** Consecutive nodes are usually rejected for the same reason and share the verdict. */
  #verdictOf(plugin: string, found: Rejection): NodeVerdict {
    if (this.#last?.rejection !== found || this.#last.plugin !== plugin) this.#last = { plugin, rejection: found }
    return this.#last
  }

  #updateStates(placed: PlacedPod, by: 1 | -1): void {
    for (const { plugin, state } of this.#others) plugin.updateState?.(this.cycle, state, placed, by)
  }
}

const nodesToFindMin = 100
const percentageMin = 5

/** How many fitting nodes are enough. In large clusters this is a percentage. */
export function nodesToFind(percentage: number, nodeCount: number): number {
  if (nodeCount < nodesToFindMin || percentage >= 100) return nodeCount
  const share = percentage === 0 ? Math.max(percentageMin, 50 - Math.floor(nodeCount / 125)) : percentage
  return Math.max(nodesToFindMin, Math.floor((nodeCount * share) / 100))
}

/** Evaluates the pod, then nodes in their order from `start`, until enough fit. */
export function filterNodes(
  cycle: Cycle,
  profile: Profile,
  nominator: Nominator,
  start: number,
  equivalenceCache = new EquivalenceCache(),
  stopwatch: PointTimer = noPointTimer,
  buffers = new CycleBuffers(),
): Filtered {
  const { snapshot, pod } = cycle
  const skipped = new Set<string>()
  const states = new Map<string, unknown>()
  let wanted: ReadonlySet<string> | undefined
  const narrowedBy: string[] = []
  for (const plugin of profile.at.preFilter) {
    const result = plugin.preFilter(cycle)
    if (result.kind === 'rejected') {
      stopwatch.countCall('PreFilter', plugin.name)
      stopwatch.lap('PreFilter', 'Unschedulable')
      const run = new Filtering(cycle, nominator, [], new EquivalenceClass(), plugin.name)
      return { kind: 'rejected', run, by: { plugin: plugin.name, rejection: result } }
    }
    if (result.kind === 'skip') skipped.add(plugin.name)
    else {
      stopwatch.countCall('PreFilter', plugin.name)
      states.set(plugin.name, result.state)
      if (result.nodes === undefined) continue
      wanted = wanted === undefined ? result.nodes : wanted.intersection(result.nodes)
      narrowedBy.push(plugin.name)
    }
  }
  stopwatch.lap('PreFilter')
  const checks = profile.at.filter
    .filter(({ name }) => !skipped.has(name))
    .map((plugin) => ({ plugin, state: states.get(plugin.name) }))
  for (const { plugin } of checks) stopwatch.countCall('Filter', plugin.name)
  const run = new Filtering(cycle, nominator, checks, equivalenceCache.of(profile.schedulerName, cycle))
  const nominated = nominator.nodeOf(pod) ?? pod.status.nominatedNodeName
  const nominatedSlot = nominated === undefined ? undefined : snapshot.slotOf(nominated)
  if (nominatedSlot !== undefined && (wanted === undefined || wanted.has(nominated ?? ''))) {
    if (run.check(nominatedSlot) === undefined) {
      const fitting = Int32Array.of(nominatedSlot)
      run.verdicts.accept(fitting)
      stopwatch.lap('Filter')
      return { kind: 'filtered', run, fitting, evaluated: 0 }
    }
  }
  const enough = Math.min(snapshot.size, nodesToFind(profile.percentageOfNodesToScore, snapshot.size))
  const { fitting, evaluated } =
    wanted === undefined
      ? run.find(start, buffers.fitting(enough))
      : { fitting: findNamed(run, wanted, narrowedBy), evaluated: 0 }
  stopwatch.lap('Filter')
  return { kind: 'filtered', run, fitting, evaluated }
}

/** PreFilter has restricted the nodes; all others are rejected in the name of those plugins. */
function findNamed(run: Filtering, names: ReadonlySet<string>, narrowedBy: readonly string[]): Int32Array {
  const { snapshot } = run.cycle
  const others: Rejection = rejection(`node(s) didn't satisfy plugin(s) [${narrowedBy.toSorted().join(' ')}]`, false)
  const plugin = narrowedBy[0] ?? ''
  const room = new Int32Array(Math.min(names.size, snapshot.size))
  let found = 0
  for (const slot of snapshot.order) {
    const verdict = names.has(snapshot.nameAt(slot)) ? run.check(slot) : { plugin, rejection: others }
    if (verdict === undefined) room[found++] = slot
    else run.verdicts.reject(slot, verdict)
  }
  const fitting = room.subarray(0, found)
  run.verdicts.accept(fitting)
  return fitting
}
