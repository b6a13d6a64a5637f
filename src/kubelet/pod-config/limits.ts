// Requests and limits as the kernel takes them: shares and quota of the processor, bytes of memory, and how readily a
// process is killed when memory runs out.
import type { Container } from '../../api/core/v1/container.ts'
import { qosClassOf } from '../../api/core/v1/qos.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec.ts'
import { quantityMillis, quantityUnits } from '../../schema/quantity.ts'
import type { ContainerResources } from '../../machine/runtime/config.ts'

const sharesPerCpu = 1_024
const sharesMin = 2
const periodUs = 100_000
const quotaUsMin = 1_000
/** Killed last, first, and between. */
const [guaranteedScore, bestEffortScore] = [-997, 1_000]
const [burstableScoreMin, burstableScoreMax] = [3, 999]

export function limitsOf(
  { resources }: Pick<Container, 'resources'>,
  spec: PodSpec,
  memoryCapacityBytes: number,
): ContainerResources {
  const { requests = {}, limits = {} } = resources
  const cpuMillis = quantityMillis(requests['cpu'] ?? limits['cpu'])
  const cpuLimitMillis = quantityMillis(limits['cpu'])
  const memoryBytes = quantityUnits(limits['memory'])
  const requestBytes = quantityUnits(requests['memory'] ?? limits['memory'])
  return {
    cpuShares: Math.max(sharesMin, Math.floor((cpuMillis * sharesPerCpu) / 1_000)),
    ...(cpuLimitMillis === 0
      ? {}
      : { cpuPeriodUs: periodUs, cpuQuotaUs: Math.max(quotaUsMin, (cpuLimitMillis * periodUs) / 1_000) }),
    ...(memoryBytes === 0 ? {} : { memoryBytes }),
    oomScoreAdjust: scoreOf(spec, requestBytes, memoryCapacityBytes),
  }
}

/** A burstable container is the safer the more of the node's memory it has asked for. */
function scoreOf(spec: PodSpec, requestBytes: number, capacityBytes: number): number {
  switch (qosClassOf(spec)) {
    case 'Guaranteed':
      return guaranteedScore
    case 'BestEffort':
      return bestEffortScore
    default:
      return Math.min(
        burstableScoreMax,
        Math.max(burstableScoreMin, 1_000 - Math.floor((1_000 * requestBytes) / capacityBytes)),
      )
  }
}
