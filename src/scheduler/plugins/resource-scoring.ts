// Resource scoring: scores a node by its utilisation with the pod: LeastAllocated, MostAllocated, or
// RequestedToCapacityRatio.
import { scoreMax, type Cycle } from '../framework/framework.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'

export interface WeightedResource {
  readonly name: string
  readonly weight?: number
}

export interface CurvePoint {
  /** Utilisation of the node in percent. */
  readonly utilization: number
  /** 0 to 10. */
  readonly score: number
}

export interface ScoringStrategy {
  readonly type?: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio'
  readonly resources?: readonly WeightedResource[]
  readonly requestedToCapacityRatio?: { readonly shape: readonly CurvePoint[] }
}

/** A resource with its columns and the amount that the pod adds. */
export interface ScoredResource {
  readonly weight: number
  readonly amount: number
  readonly allocatable: Float64Array
  readonly requested: Float64Array
}

export const countedResources: readonly WeightedResource[] = [{ name: 'cpu' }, { name: 'memory' }]

/** The resources that are scored for this pod. `isCounted`: containers without requests count with a default. */
export const scoredResources = (
  { facts, snapshot: { resources } }: Cycle,
  weighted: readonly WeightedResource[],
  isCounted: boolean,
): ScoredResource[] =>
  weighted.flatMap(({ name, weight = 1 }) => {
    const { allocatable, requested } = resources.of(name)
    const counted = isCounted && (name === 'cpu' || name === 'memory') ? resources.counted[name] : undefined
    const amount = (counted === undefined ? facts.requests : facts.counted).get(name) ?? 0
    // A scarce resource is not scored for a pod that does not request it.
    if (amount === 0 && !native.has(name)) return []
    return [{ weight, amount, allocatable, requested: counted ?? requested }]
  })

const native = new Set(['cpu', 'memory', 'ephemeral-storage'])

type ShareScore = (requested: number, allocatable: number) => number

const leastAllocated: ShareScore = (requested, allocatable) =>
  requested > allocatable ? 0 : Math.floor(((allocatable - requested) * scoreMax) / allocatable)

const mostAllocated: ShareScore = (requested, allocatable) =>
  Math.floor((Math.min(requested, allocatable) * scoreMax) / allocatable)

export function resourceScorer({ type = 'LeastAllocated', resources, requestedToCapacityRatio }: ScoringStrategy = {}) {
  const weighted = resources ?? countedResources
  const isCurve = type === 'RequestedToCapacityRatio'
  const shape = requestedToCapacityRatio?.shape ?? []
  const share = isCurve ? alongCurve(shape) : type === 'MostAllocated' ? mostAllocated : leastAllocated
  return {
    resources: (cycle: Cycle) => scoredResources(cycle, weighted, true),
    score(_snapshot: Snapshot, slot: number, scored: readonly ScoredResource[]): number {
      let sum = 0
      let weights = 0
      for (const { weight, amount, allocatable, requested } of scored) {
        const whole = allocatable[slot] as number
        if (whole === 0) continue
        const score = share((requested[slot] as number) + amount, whole)
        if (isCurve && score <= 0) continue
        sum += score * weight
        weights += weight
      }
      if (weights === 0) return 0
      return isCurve ? Math.round(sum / weights) : Math.floor(sum / weights)
    },
  }
}

/** Linear interpolation between the points, constant outside. */
function alongCurve(shape: readonly CurvePoint[]): ShareScore {
  const points = shape.map(({ utilization, score }) => ({ x: utilization, y: score * 10 }))
  const at = (x: number): number => {
    const next = points.findIndex((point) => x <= point.x)
    const left = points[next - 1]
    const right = points[next]
    if (right === undefined) return points.at(-1)?.y ?? 0
    if (left === undefined) return right.y
    return left.y + Math.trunc(((right.y - left.y) * (x - left.x)) / (right.x - left.x))
  }
  return (requested, allocatable) => at(requested > allocatable ? 100 : Math.floor((requested * 100) / allocatable))
}
