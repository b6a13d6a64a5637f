// Messages of evictions; they equal upstream's.
import type { Container } from '../../api/core/v1/container/container.ts'
import { quantityUnits, quantityText } from '../../schema/scalar/quantity.ts'
import type { Candidate } from './eviction-ranking.ts'
import { resourceOf, type Observation } from './eviction-signals.ts'
import { amountOf, type Threshold } from './thresholds.ts'

const nanosPerUnit = 1_000_000_000n

const bytesText = (bytes: number): string => quantityText(BigInt(Math.max(0, Math.floor(bytes))) * nanosPerUnit, '1Ki')
const countText = (count: number): string => quantityText(BigInt(Math.max(0, Math.floor(count))) * nanosPerUnit)

export function evictionMessage(threshold: Threshold, observed: Observation, { pod, stats }: Candidate): string {
  const resource = resourceOf(threshold.signal)
  const text = resource === 'memory' || resource === 'ephemeral-storage' ? bytesText : countText
  const amount = amountOf(threshold.below, observed.capacity)
  const summary =
    `The node was low on resource: ${resource}. ` +
    `Threshold quantity: ${text(amount)}, available: ${text(observed.available)}. `
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return summary
  const beyond = stats.containers.flatMap((container) => {
    const request = quantityUnits(requestsOf(pod.spec.containers, container.name)[resource])
    const used =
      resource === 'memory' ? container.memory.workingSetBytes : container.rootfs.usedBytes + container.logs.usedBytes
    return used > request
      ? [
          `Container ${container.name} was using ${text(used)}, request is ${text(request)}, ` +
            `has larger consumption of ${resource}. `,
        ]
      : []
  })
  return summary + beyond.join('')
}

/** The message for a pod that exceeds its own disk limits; undefined when it does not. */
export function diskLimitMessage({ pod, stats }: Candidate): string | undefined {
  for (const { name, emptyDir } of pod.spec.volumes ?? []) {
    const used = stats.volume.find((volume) => volume.name === name)?.usedBytes ?? 0
    const { sizeLimit } = emptyDir ?? {}
    if (sizeLimit !== undefined && quantityUnits(sizeLimit) > 0 && used > quantityUnits(sizeLimit))
      return `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(sizeLimit)}. `
  }
  const limits = pod.spec.containers.map(({ resources }) => quantityUnits(resources.limits?.['ephemeral-storage']))
  const total = limits.reduce((sum, limit) => sum + limit, 0)
  if (limits.every((limit) => limit > 0) && stats['ephemeral-storage'].usedBytes > total)
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${bytesText(total)}. `
  for (const { name, resources } of pod.spec.containers) {
    const limit = resources.limits?.['ephemeral-storage']
    const used = stats.containers.find((container) => container.name === name)
    if (limit !== undefined && used && used.rootfs.usedBytes + used.logs.usedBytes > quantityUnits(limit))
      return `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(limit)}. `
  }
  return undefined
}

const requestsOf = (containers: readonly Container[], name: string): Readonly<Record<string, string>> =>
  containers.find((container) => container.name === name)?.resources.requests ?? {}
