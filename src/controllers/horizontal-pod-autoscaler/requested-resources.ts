// requestedMilli: how much of a resource each pod requests, which utilization is a percentage of.
import { lookup } from '../../base/collections/lookup.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { milliOf } from './metric-reading.ts'

/** The requests by pod, or which request is missing. Only the named container counts, if one is given. */
export function requestedMilli(
  pods: readonly Pod[],
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, bigint> | string {
  const requests = new Map<string, bigint>()
  for (const pod of pods) {
    const whole = container === undefined ? lookup(pod.spec.resources?.requests, resource) : undefined
    const requested = whole === undefined ? requestedByContainers(pod, resource, container) : milliOf(whole)
    if (typeof requested === 'string') return requested
    requests.set(pod.metadata.name, requested)
  }
  return requests
}

function requestedByContainers(
  { spec, metadata }: Pod,
  resource: string,
  container: string | undefined,
): bigint | string {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  let total = 0n
  for (const { name, resources } of [...spec.containers, ...sidecars]) {
    if (container !== undefined && name !== container) continue
    const request = lookup(resources?.requests, resource)
    if (request === undefined) return `missing request for ${resource} in container ${name} of Pod ${metadata.name}`
    total += milliOf(request)
  }
  return total
}
