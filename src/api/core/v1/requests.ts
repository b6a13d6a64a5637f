// Requests: what a pod asks of a node, counted as the scheduler and the kubelet count it.
import { quantityMillis, quantityUnits } from '../../../schema/quantity.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'

export interface Resources {
  readonly cpuMillis: number
  readonly memoryBytes: number
}

export const noResources: Resources = { cpuMillis: 0, memoryBytes: 0 }

export const addResources = (a: Resources, b: Resources): Resources => ({
  cpuMillis: a.cpuMillis + b.cpuMillis,
  memoryBytes: a.memoryBytes + b.memoryBytes,
})

export const subtractResources = (a: Resources, b: Resources): Resources => ({
  cpuMillis: a.cpuMillis - b.cpuMillis,
  memoryBytes: a.memoryBytes - b.memoryBytes,
})

export const resourcesFrom = (list: Readonly<Record<string, string>> | undefined): Resources => ({
  cpuMillis: quantityMillis(list?.['cpu']),
  memoryBytes: quantityUnits(list?.['memory']),
})

const requestsOf = ({ resources }: Container): Resources => resourcesFrom(resources.requests)

const larger = (a: Resources, b: Resources): Resources => ({
  cpuMillis: Math.max(a.cpuMillis, b.cpuMillis),
  memoryBytes: Math.max(a.memoryBytes, b.memoryBytes),
})

/** Containers together, or the largest moment of the init containers, whichever is more; sidecars keep running. */
export function resourcesOf(spec: PodSpec): Resources {
  let sidecars = noResources
  let initPeak = noResources
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container)
    if (container.restartPolicy === 'Always') sidecars = addResources(sidecars, own)
    initPeak = larger(initPeak, container.restartPolicy === 'Always' ? sidecars : addResources(sidecars, own))
  }
  const running = spec.containers.map(requestsOf).reduce(addResources, sidecars)
  return addResources(larger(running, initPeak), resourcesFrom(spec.overhead))
}
