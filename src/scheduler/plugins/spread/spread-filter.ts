// Required spreading: pods per domain, and the skew of one more pod against the emptiest domain.
import type { Cycle } from '../../framework/framework.ts'
import { noDomain } from '../../snapshot/topology.ts'
import { inclusion, isMeant, meantPods, type Constraint } from './spread-constraint.ts'

export interface DomainTally {
  readonly constraint: Constraint
  readonly domains: Float64Array
  /** Pods by domain; domains without a counted node are absent. */
  readonly pods: (number | undefined)[]
  readonly domainCount: number
  /** 1 when the constraint selects the pod itself. */
  readonly self: number
  /** Pods in the emptiest domain; undefined when it must be recomputed. */
  least: number | undefined
}

export function tallyDomains(cycle: Cycle, constraints: readonly Constraint[]): DomainTally[] {
  const { snapshot, pod } = cycle
  const { domains, hasAllKeys, includes } = inclusion(cycle, constraints)
  return constraints.map((constraint, index) => {
    const column = domains[index] as Float64Array
    const counts = meantPods(cycle, constraint)
    const pods: (number | undefined)[] = []
    let domainCount = 0
    const { order } = snapshot
    for (let at = 0; at < order.length; at++) {
      const slot = order[at] as number
      if (hasAllKeys[slot] === 0 || !includes(constraint, slot)) continue
      const domain = column[slot] as number
      const before = pods[domain]
      if (before === undefined) domainCount++
      pods[domain] = (before ?? 0) + (counts[slot] as number)
    }
    const self = isMeant(constraint, pod) ? 1 : 0
    return { constraint, domains: column, pods, domainCount, self, least: undefined }
  })
}

export const lacksDomain = ({ domains }: DomainTally, slot: number): boolean => domains[slot] === noDomain

export function isBeyondSkew(tally: DomainTally, slot: number): boolean {
  const { constraint, pods, domains, self } = tally
  tally.least ??= leastOf(tally)
  return (pods[domains[slot] as number] ?? 0) + self - tally.least > constraint.maxSkew
}

/** Counts a pod that is added or removed, if its node counts. */
export function addPod(tally: DomainTally, slot: number, by: 1 | -1): void {
  const domain = tally.domains[slot] as number
  const before = domain === noDomain ? undefined : tally.pods[domain]
  if (before === undefined) return
  tally.pods[domain] = before + by
  tally.least = undefined
}

/** With fewer domains than minDomains, the minimum is 0. */
function leastOf({ constraint, pods, domainCount }: DomainTally): number {
  if (domainCount < constraint.minDomains) return 0
  let least = Infinity
  for (const count of pods) if (count !== undefined && count < least) least = count
  return least
}
