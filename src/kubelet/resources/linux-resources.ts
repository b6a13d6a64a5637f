// Requests and limits as the kernel takes them: shares and quota of the processor, bytes of memory, and how readily a
// process is killed when memory runs out.
import type { Container } from '../../api/core/v1/container/container.ts'
import { qosClassOf } from '../../api/core/v1/pod-spec/qos.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import { amountsFrom } from '../../api/core/v1/pod/pod-requests.ts'
import { quantityMillis, quantityUnits } from '../../schema/scalar/quantity.ts'
import { hugepageSize } from '../../machine/cgroups/layout.ts'
import type { ContainerResources } from '../../machine/runtime/runtime-config.ts'

const sharesPerCpu = 1_024
export const sharesMin = 2
const sharesMax = 262_144
const periodUs = 100_000
const quotaUsMin = 1_000
/** Killed last, first, and between. */
const [guaranteedScore, bestEffortScore] = [-997, 1_000]
const [burstableScoreMin, burstableScoreMax] = [3, 999]

export const cpuShares = (cpuMillis: number): number =>
  Math.min(sharesMax, Math.max(sharesMin, Math.floor((cpuMillis * sharesPerCpu) / 1_000)))

export const cpuQuota = (cpuLimitMillis: number): Pick<ContainerResources, 'cpuPeriodUs' | 'cpuQuotaUs'> =>
  cpuLimitMillis === 0
    ? {}
    : { cpuPeriodUs: periodUs, cpuQuotaUs: Math.max(quotaUsMin, (cpuLimitMillis * periodUs) / 1_000) }

/** `hugepages-2Mi` as the kernel names it; sizes that nothing is said about are not limited by us. */
export function hugepageLimits(limits: ReadonlyMap<string, number>): Pick<ContainerResources, 'hugepageBytes'> {
  const sizes = [...limits].flatMap(([name, bytes]) =>
    name.startsWith(hugepagesPrefix)
      ? [[hugepageSize(quantityUnits(name.slice(hugepagesPrefix.length))), bytes] as const]
      : [],
  )
  return sizes.length === 0 ? {} : { hugepageBytes: Object.fromEntries(sizes) }
}

const hugepagesPrefix = 'hugepages-'

export function linuxResources(
  { resources }: Pick<Container, 'resources'>,
  spec: PodSpec,
  memoryCapacityBytes: number,
): ContainerResources {
  const { requests = {}, limits = {} } = resources
  const memoryBytes = quantityUnits(limits['memory'])
  const requestBytes = quantityUnits(requests['memory'] ?? limits['memory'])
  return {
    cpuShares: cpuShares(quantityMillis(requests['cpu'] ?? limits['cpu'])),
    ...cpuQuota(quantityMillis(limits['cpu'])),
    ...(memoryBytes === 0 ? {} : { memoryBytes }),
    ...hugepageLimits(amountsFrom(limits)),
    oomScoreAdjust: scoreOf(spec, requestBytes, memoryCapacityBytes),
  }
}

/** A burstable container is the safer the more of the node's memory it has asked for, or its part of the pod's. */
function scoreOf(spec: PodSpec, ownRequestBytes: number, capacityBytes: number): number {
  if (isNodeCritical(spec)) return guaranteedScore
  switch (qosClassOf(spec)) {
    case 'Guaranteed':
      return guaranteedScore
    case 'BestEffort':
      return bestEffortScore
    default: {
      const requestBytes = ownRequestBytes + sharedRequestBytes(spec)
      return Math.min(
        burstableScoreMax,
        Math.max(burstableScoreMin, 1_000 - Math.floor((1_000 * requestBytes) / capacityBytes)),
      )
    }
  }
}

/** What the pod as a whole asks for beyond its containers is for all of them alike. */
function sharedRequestBytes({ resources, containers }: PodSpec): number {
  const whole = quantityUnits(resources?.requests?.['memory'])
  const own = containers.reduce((sum, container) => sum + quantityUnits(container.resources.requests?.['memory']), 0)
  return whole <= own ? 0 : Math.floor((whole - own) / containers.length)
}

/** Above which priority the node itself depends on a pod. */
const nodeCriticalPriority = 2_000_001_000

const isNodeCritical = ({ priority = 0 }: PodSpec): boolean => priority >= nodeCriticalPriority
