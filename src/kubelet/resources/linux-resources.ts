// Requests and limits in the kernel's units: CPU shares and quota, bytes of memory, and the OOM score adjustment.
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
/** OOM score adjustments by QoS class, as upstream. */
const guaranteedScore = -997
const bestEffortScore = 1_000
const burstableScoreMin = 3
const burstableScoreMax = 999

export const cpuShares = (cpuMillis: number): number =>
  Math.min(sharesMax, Math.max(sharesMin, Math.floor((cpuMillis * sharesPerCpu) / 1_000)))

export const cpuQuota = (cpuLimitMillis: number): Pick<ContainerResources, 'cpuPeriodUs' | 'cpuQuotaUs'> =>
  cpuLimitMillis === 0
    ? {}
    : { cpuPeriodUs: periodUs, cpuQuotaUs: Math.max(quotaUsMin, (cpuLimitMillis * periodUs) / 1_000) }

/** Huge page limits by the kernel's names of page sizes; sizes without a limit are left out. */
export function hugepageLimits(limits: ReadonlyMap<string, number>): Pick<ContainerResources, 'hugepageBytes'> {
  const sizes = [...limits].flatMap(([name, bytes]) =>
    name.startsWith(hugepagesPrefix)
      ? [[hugepageSize(quantityUnits(name.slice(hugepagesPrefix.length))), bytes] as const]
      : [],
  )
  return sizes.length === 0 ? {} : { hugepageBytes: Object.fromEntries(sizes) }
}

const hugepagesPrefix = 'hugepages-'

/** A container without limits of its own has those of the pod. */
export function linuxResources(
  { resources }: Pick<Container, 'resources'>,
  spec: PodSpec,
  memoryCapacityBytes: number,
): ContainerResources {
  const { requests = {}, limits = {} } = resources
  const { limits: ofPod = {} } = spec.resources ?? {}
  const cpuLimitMillis = quantityMillis(limits['cpu']) || quantityMillis(ofPod['cpu'])
  const memoryBytes = quantityUnits(limits['memory']) || quantityUnits(ofPod['memory'])
  const requestBytes = quantityUnits(requests['memory'] ?? limits['memory'])
  return {
    cpuShares: cpuShares(requests['cpu'] === undefined ? cpuLimitMillis : quantityMillis(requests['cpu'])),
    ...cpuQuota(cpuLimitMillis),
    ...(memoryBytes === 0 ? {} : { memoryBytes }),
    ...hugepageLimits(amountsFrom(limits)),
    oomScoreAdjust: scoreOf(spec, requestBytes, memoryCapacityBytes),
  }
}

/** The OOM score of a burstable container decreases with its share of the node's memory that it requests. */
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

/** Pod-level memory requests beyond those of the containers are divided equally. */
function sharedRequestBytes({ resources, containers }: PodSpec): number {
  const whole = quantityUnits(resources?.requests?.['memory'])
  const own = containers.reduce((sum, container) => sum + quantityUnits(container.resources.requests?.['memory']), 0)
  return whole <= own ? 0 : Math.floor((whole - own) / containers.length)
}

/** Pods with this priority or more are critical for the node. */
const nodeCriticalPriority = 2_000_001_000

const isNodeCritical = ({ priority = 0 }: PodSpec): boolean => priority >= nodeCriticalPriority
