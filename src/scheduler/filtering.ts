// Filtering: the first half of a cycle. Each plugin looks at the pod once, then at one node after the other, until
// enough nodes fit.
import { CycleMemory } from './cycle-memory.ts'
import { rejection, type Cycle, type FilterRun, type Rejection } from './framework.ts'
import { noLaps, type Laps } from './metrics.ts'
import type { Nominator } from './nominator.ts'
import type { PluginAt, Profile } from './profile.ts'
import { KindFindings, SharedFindings } from './shared-findings.ts'
import type { PlacedPod } from './snapshot/snapshot.ts'
import { Verdicts, type NodeVerdict } from './verdicts.ts'

interface Check {
  readonly plugin: PluginAt<'filter'>
  readonly state: unknown
}

export type Filtered =
  | { readonly kind: 'filtered'; readonly run: Filtering; readonly fitting: Int32Array; readonly lookedAt: number }
  /** A plugin rejected the pod before it looked at any node. */
  | { readonly kind: 'rejected'; readonly run: Filtering; readonly by: NodeVerdict }

export class Filtering implements FilterRun {
  readonly cycle: Cycle
  readonly verdicts: Verdicts
  readonly shared: KindFindings
  readonly #nominator: Nominator
  /** The first few, as long as what they find can be shared, and all others. */
  readonly #local: readonly Check[]
  readonly #others: readonly Check[]
  #last: NodeVerdict | undefined

  constructor(cycle: Cycle, nominator: Nominator, checks: readonly Check[], shared: KindFindings) {
    this.cycle = cycle
    this.verdicts = new Verdicts(cycle.snapshot.names.length)
    this.#nominator = nominator
    this.shared = shared
    const firstOther = checks.findIndex(({ plugin }) => !plugin.isLocal)
    this.#local = firstOther < 0 ? checks : checks.slice(0, firstOther)
    this.#others = firstOther < 0 ? [] : checks.slice(firstOther)
  }

  get isLocal(): boolean {
    return this.#others.length === 0
  }

  /** Whether what was found about a node for a pod of this kind is all that there is to say. */
  get #isShared(): boolean {
    return this.isLocal && this.#nominator.isEmpty
  }

  /** Looks at nodes from one place in their order on, until the room for those that fit is full. */
  find(start: number, room: Int32Array): { readonly fitting: Int32Array; readonly lookedAt: number } {
    const { order, size, versions } = this.cycle.snapshot
    const { verdicts: known } = this.shared
    const isShared = this.#isShared
    let found = 0
    let lookedAt = 0
    let place = size === 0 ? 0 : start % size
    for (; lookedAt < size && found < room.length; lookedAt++) {
      const slot = order[place] as number
      if (++place === size) place = 0
      const isKnown = isShared && known.versions[slot] === versions[slot]
      const verdict = isKnown ? known.values[slot] : this.check(slot)
      if (verdict === undefined) room[found++] = slot
      else this.verdicts.rejects(slot, verdict)
    }
    const fitting = found === room.length ? room : room.subarray(0, found)
    this.verdicts.fit(fitting)
    return { fitting, lookedAt }
  }

  /** Pods that are nominated to the node count as if they were there; without them the pod must fit as well. */
  check(slot: number): NodeVerdict | undefined {
    const rivals = this.#nominator.isEmpty ? [] : this.#rivalsOn(slot)
    if (rivals.length === 0) return this.#checkPlain(slot)
    const { snapshot } = this.cycle
    const placed = rivals.map((rival) => snapshot.place(rival, snapshot.nameAt(slot)))
    for (const each of placed) this.#shift(each, 1)
    const found = this.#checkPlain(slot)
    for (const each of placed) this.take(each)
    return found ?? this.#checkPlain(slot)
  }

  take(placed: PlacedPod): void {
    this.cycle.snapshot.remove(placed.pod)
    this.#shift(placed, -1)
  }

  putBack(placed: PlacedPod): void {
    const { snapshot } = this.cycle
    snapshot.place(placed.pod, snapshot.nameAt(placed.slot))
    this.#shift(placed, 1)
  }

  #rivalsOn(slot: number) {
    const { facts, pod, snapshot } = this.cycle
    return [...this.#nominator.on(snapshot.nameAt(slot))].filter(
      (rival) =>
        rival.metadata.uid !== pod.metadata.uid &&
        (rival.spec.priority ?? 0) >= facts.priority &&
        snapshot.placement(rival) === undefined,
    )
  }

  #checkPlain(slot: number): NodeVerdict | undefined {
    const version = this.cycle.snapshot.versionOf(slot)
    const { verdicts } = this.shared
    if (!verdicts.knows(slot, version)) verdicts.set(slot, version, this.#ask(this.#local, slot))
    const found = verdicts.get(slot)
    return found !== undefined || this.#others.length === 0 ? found : this.#ask(this.#others, slot)
  }

  #ask(checks: readonly Check[], slot: number): NodeVerdict | undefined {
    for (let index = 0; index < checks.length; index++) {
      const { plugin, state } = checks[index] as Check
      const found = plugin.filter(this.cycle, slot, state)
      if (found !== undefined) return this.#verdictOf(plugin.name, found)
    }
    return undefined
  }

  /** Neighbours are most often rejected for the same reason, and then share the verdict. */
  #verdictOf(plugin: string, found: Rejection): NodeVerdict {
    if (this.#last?.rejection !== found || this.#last.plugin !== plugin) this.#last = { plugin, rejection: found }
    return this.#last
  }

  #shift(placed: PlacedPod, by: 1 | -1): void {
    for (const { plugin, state } of this.#others) plugin.shift?.(this.cycle, state, placed, by)
  }
}

const nodesToFindMin = 100
const percentageMin = 5

/** How many fitting nodes are enough: in large clusters a part of them. */
export function nodesToFind(percentage: number, nodeCount: number): number {
  if (nodeCount < nodesToFindMin || percentage >= 100) return nodeCount
  const share = percentage === 0 ? Math.max(percentageMin, 50 - Math.floor(nodeCount / 125)) : percentage
  return Math.max(nodesToFindMin, Math.floor((nodeCount * share) / 100))
}

/** Looks at the pod, then at nodes from `start` on in their order, until enough fit. */
export function filterNodes(
  cycle: Cycle,
  profile: Profile,
  nominator: Nominator,
  start: number,
  shared = new SharedFindings(),
  watch: Laps = noLaps,
  memory = new CycleMemory(),
): Filtered {
  const { snapshot, pod } = cycle
  const skipped = new Set<string>()
  const states = new Map<string, unknown>()
  let wanted: ReadonlySet<string> | undefined
  const narrowedBy: string[] = []
  for (const plugin of profile.at.preFilter) {
    const result = plugin.preFilter(cycle)
    if (result.kind === 'rejected') {
      watch.asked('PreFilter', plugin.name)
      watch.lap('PreFilter', 'Unschedulable')
      const run = new Filtering(cycle, nominator, [], new KindFindings())
      return { kind: 'rejected', run, by: { plugin: plugin.name, rejection: result } }
    }
    if (result.kind === 'skip') skipped.add(plugin.name)
    else {
      watch.asked('PreFilter', plugin.name)
      states.set(plugin.name, result.state)
      if (result.nodes === undefined) continue
      wanted = wanted === undefined ? result.nodes : wanted.intersection(result.nodes)
      narrowedBy.push(plugin.name)
    }
  }
  watch.lap('PreFilter')
  const checks = profile.at.filter
    .filter(({ name }) => !skipped.has(name))
    .map((plugin) => ({ plugin, state: states.get(plugin.name) }))
  for (const { plugin } of checks) watch.asked('Filter', plugin.name)
  const run = new Filtering(cycle, nominator, checks, shared.of(profile.schedulerName, cycle))
  const nominated = nominator.nodeOf(pod) ?? pod.status.nominatedNodeName
  const nominatedSlot = nominated === undefined ? undefined : snapshot.slotOf(nominated)
  if (nominatedSlot !== undefined && (wanted === undefined || wanted.has(nominated ?? ''))) {
    if (run.check(nominatedSlot) === undefined) {
      const fitting = Int32Array.of(nominatedSlot)
      run.verdicts.fit(fitting)
      watch.lap('Filter')
      return { kind: 'filtered', run, fitting, lookedAt: 0 }
    }
  }
  const enough = Math.min(snapshot.size, nodesToFind(profile.percentageOfNodesToScore, snapshot.size))
  const { fitting, lookedAt } =
    wanted === undefined
      ? run.find(start, memory.fitting(enough))
      : { fitting: findNamed(run, wanted, narrowedBy), lookedAt: 0 }
  watch.lap('Filter')
  return { kind: 'filtered', run, fitting, lookedAt }
}

/** Only some nodes come into question; all others are rejected by those who said so. */
function findNamed(run: Filtering, names: ReadonlySet<string>, narrowedBy: readonly string[]): Int32Array {
  const { snapshot } = run.cycle
  const others: Rejection = rejection(`node(s) didn't satisfy plugin(s) [${narrowedBy.toSorted().join(' ')}]`, false)
  const plugin = narrowedBy[0] ?? ''
  const room = new Int32Array(Math.min(names.size, snapshot.size))
  let found = 0
  for (const slot of snapshot.order) {
    const verdict = names.has(snapshot.nameAt(slot)) ? run.check(slot) : { plugin, rejection: others }
    if (verdict === undefined) room[found++] = slot
    else run.verdicts.rejects(slot, verdict)
  }
  const fitting = room.subarray(0, found)
  run.verdicts.fit(fitting)
  return fitting
}
