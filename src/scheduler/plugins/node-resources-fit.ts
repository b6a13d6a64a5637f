// NodeResourcesFit: the node must have free resources for the pod's requests. The profile's scoring strategy prefers
// emptier or fuller nodes.
import { deviceClass } from '../../api/resource/v1/device-class.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import {
  defineSchedulerPlugin,
  rejection,
  type Cycle,
  type Rejection,
  type SchedulerPlugin,
} from '../framework/framework.ts'
import { podFacts } from '../snapshot/pod-facts.ts'
import type { ResourceColumns } from '../snapshot/resource-table.ts'
import { resourceScorer, type ScoredResource, type ScoringStrategy } from './resource-scoring.ts'

export interface NodeResourcesFitArgs {
  readonly ignoredResources?: readonly string[]
  readonly ignoredResourceGroups?: readonly string[]
  readonly scoringStrategy?: ScoringStrategy
}

interface Demand extends ResourceColumns {
  readonly resource: string
  readonly amount: number
  /** A device class may provide this resource on nodes without it. */
  readonly isOfClass: boolean
}

interface Demands {
  readonly list: readonly Demand[]
  /** Rejections by the reasons that they name; nodes with the same reasons share one. */
  readonly rejections: Map<number, Rejection>
}

const firstResources = ['cpu', 'memory', 'ephemeral-storage']

export const nodeResourcesFit = defineSchedulerPlugin<Demands, readonly ScoredResource[]>({
  name: 'NodeResourcesFit',
  isLocal: true,
  weight: 1,
  ...points({}),
  configure(args, { extenders }) {
    const given = (args as NodeResourcesFitArgs | undefined) ?? {}
    const managed = extenders.flatMap(({ ignoredResources }) => ignoredResources)
    return points({ ...given, ignoredResources: [...(given.ignoredResources ?? []), ...managed] })
  },
  watches: [deviceClass],
  eventsToRegister: ['node-added', 'node-changed', 'object-changed', 'pod-changed', 'pod-removed'],
  queueingHint(event, pod) {
    // A device class may start to provide a resource that no node has.
    if (event.kind === 'object-changed') return [...podFacts(pod).requests.keys()].some((name) => name.includes('/'))
    if (event.kind === 'node-added' || event.kind === 'pod-removed') return true
    if (event.kind === 'node-changed')
      return !equalValues(event.before.status.allocatable, event.node.status.allocatable)
    // A pod that was resized to less frees resources.
    if (event.kind !== 'pod-changed') return false
    const before = podFacts(event.before).requests
    const now = podFacts(event.pod).requests
    return [...podFacts(pod).requests.keys()].some((name) => (now.get(name) ?? 0) < (before.get(name) ?? 0))
  },
})

function points(args: NodeResourcesFitArgs): Partial<SchedulerPlugin<Demands, readonly ScoredResource[]>> {
  const scorer = resourceScorer(args.scoringStrategy)
  const isIgnored = (resource: string) =>
    resource.includes('/') &&
    ((args.ignoredResources?.includes(resource) ?? false) ||
      (args.ignoredResourceGroups?.includes(resource.slice(0, resource.indexOf('/'))) ?? false))
  return {
    preFilter: (cycle) => ({ kind: 'check', state: demandsOf(cycle, isIgnored) }),
    filter({ snapshot: { resources } }, slot, demands) {
      let shortages = (resources.podCount[slot] as number) + 1 > (resources.podsMax[slot] as number) ? 2 : 0
      let isUnresolvable = 0
      for (let index = 0; index < demands.list.length; index++) {
        const { amount, allocatable, requested, isOfClass } = demands.list[index] as Demand
        const whole = allocatable[slot] as number
        if (isOfClass && whole === 0) continue
        if (amount <= whole - (requested[slot] as number)) continue
        shortages += 4 * 2 ** index
        if (amount > whole) isUnresolvable = 1
      }
      return shortages === 0 ? undefined : rejectionFor(demands, shortages, isUnresolvable)
    },
    preScore: (cycle) => scorer.resources(cycle),
    score: ({ snapshot }, slot, scored) => scorer.score(snapshot, slot, scored),
  }
}

function demandsOf({ facts, snapshot }: Cycle, isIgnored: (resource: string) => boolean): Demands {
  const list: Demand[] = []
  const demand = (resource: string, amount: number) => {
    if (amount === 0 || isIgnored(resource)) return
    const { allocatable, requested } = snapshot.resources.of(resource)
    list.push({ resource, amount, allocatable, requested, isOfClass: snapshot.deviceClassFor(resource) !== undefined })
  }
  for (const resource of firstResources) demand(resource, facts.requests.get(resource) ?? 0)
  for (const [resource, amount] of facts.requests) if (!firstResources.includes(resource)) demand(resource, amount)
  return { list, rejections: new Map() }
}

/** `shortages` has bit 1 for too many pods and one bit for each request from bit 2 on; `isUnresolvable` is bit 0. */
function rejectionFor({ list, rejections }: Demands, shortages: number, isUnresolvable: number): Rejection {
  const known = rejections.get(shortages + isUnresolvable)
  if (known !== undefined) return known
  const short = list.filter((_, index) => Math.floor(shortages / (4 * 2 ** index)) % 2 === 1)
  const reasons = short.map(({ resource }) => `Insufficient ${resource}`)
  const made = interned(
    [...(Math.floor(shortages / 2) % 2 === 1 ? ['Too many pods'] : []), ...reasons],
    isUnresolvable === 0,
  )
  rejections.set(shortages + isUnresolvable, made)
  return made
}

/** One rejection per combination of reasons, so that equal rejections are identical. */
const known = new Map<string, Rejection>()
const knownMax = 1_000

function interned(reasons: readonly string[], resolvable: boolean): Rejection {
  const key = `${resolvable} ${reasons.join()}`
  const found = known.get(key) ?? rejection(reasons, resolvable)
  if (known.size >= knownMax) known.clear()
  known.set(key, found)
  return found
}
