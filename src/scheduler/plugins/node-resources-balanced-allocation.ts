// NodeResourcesBalancedAllocation: prefers nodes on which the shares of used resources are, or become, more equal.
import { defineSchedulerPlugin, scoreMax, type SchedulerPlugin } from '../framework/framework.ts'
import { countedResources, scoredResources, type ScoredResource, type WeightedResource } from './resource-scoring.ts'

export const nodeResourcesBalancedAllocation = defineSchedulerPlugin<never, readonly ScoredResource[]>({
  name: 'NodeResourcesBalancedAllocation',
  isLocal: true,
  weight: 1,
  ...points(countedResources),
  configure: (args) => points((args as { resources?: WeightedResource[] } | undefined)?.resources ?? countedResources),
})

function points(weighted: readonly WeightedResource[]): Partial<SchedulerPlugin<never, readonly ScoredResource[]>> {
  return {
    preScore(cycle) {
      const resources = scoredResources(cycle, weighted, false)
      return resources.every(({ amount }) => amount === 0) ? undefined : resources
    },
    score(_cycle, slot, resources) {
      const change = balance(resources, slot, true) - balance(resources, slot, false)
      return scoreMax / 2 + Math.trunc((scoreMax / 2 + change) / 2)
    },
  }
}

/** 100 when all resources are used to the same share; lower by the standard deviation of the shares. */
function balance(resources: readonly ScoredResource[], slot: number, isWithPod: boolean): number {
  let count = 0
  let sum = 0
  let first = 0
  let second = 0
  for (let index = 0; index < resources.length; index++) {
    const share = shareOf(resources[index] as ScoredResource, slot, isWithPod)
    if (share < 0) continue
    if (count++ === 0) first = share
    else second = share
    sum += share
  }
  if (count < 2) return scoreMax
  if (count === 2) return Math.trunc((1 - Math.abs(first - second) / 2) * scoreMax)
  let squares = 0
  for (const resource of resources) {
    const share = shareOf(resource, slot, isWithPod)
    if (share >= 0) squares += (share - sum / count) ** 2
  }
  return Math.trunc((1 - Math.sqrt(squares / count)) * scoreMax)
}

/** Negative when the node does not have the resource. */
function shareOf({ amount, allocatable, requested }: ScoredResource, slot: number, isWithPod: boolean): number {
  const whole = allocatable[slot] as number
  return whole === 0 ? -1 : Math.min(1, ((requested[slot] as number) + (isWithPod ? amount : 0)) / whole)
}
