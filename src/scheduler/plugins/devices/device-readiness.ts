// Device readiness: some devices must be prepared for their node before the pod is bound. Drivers report that in the
// claim's status, with the conditions that the devices name.
import type { Clock } from '../../../base/time/clock.ts'
import type { ObjectKey } from '../../../api/meta/object.ts'
import type { ResourceClaim } from '../../../api/resource/v1/resource-claim.ts'

export type Readiness = 'ready' | 'waiting' | 'failed'

/** The state of the claim's devices, from the conditions that drivers reported. */
export function readinessOf({ status: { allocation, devices = [] } }: ResourceClaim): Readiness {
  let isReady = true
  for (const result of allocation?.devices.results ?? []) {
    const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } = result
    const reported = devices.find(
      (each) => each.driver === driver && each.pool === pool && each.device === device && each.shareID === shareID,
    )
    const holds = (type: string) =>
      reported?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
    if (bindingFailureConditions.some(holds)) return 'failed'
    if (!bindingConditions.every(holds)) isReady = false
  }
  return isReady ? 'ready' : 'waiting'
}

export interface Claims {
  get(key: ObjectKey): ResourceClaim | undefined
  /** Calls back on every change of a claim; the returned function unsubscribes. */
  onChange(check: () => void): () => void
}

/**
 * Resolves when the devices of all claims are ready. Rejects when one fails, a claim is deleted, or the timeout
 * expires.
 */
export async function untilReady(
  keys: readonly ObjectKey[],
  claims: Claims,
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const check = () => {
    const found = keys.map((key) => claims.get(key))
    if (found.includes(undefined)) return reject(new Error('a claim has gone'))
    const readiness = found.map((claim) => (claim?.status.allocation === undefined ? 'waiting' : readinessOf(claim)))
    if (readiness.includes('failed')) reject(new Error('claim binding failed'))
    else if (readiness.every((each) => each === 'ready')) resolve()
  }
  const timer = clock.after(timeoutMs, () => reject(new Error('claim binding timeout')))
  const leave = () => reject(signal.reason as Error)
  signal.addEventListener('abort', leave, { once: true })
  const stop = claims.onChange(check)
  check()
  try {
    await promise
  } finally {
    stop()
    signal.removeEventListener('abort', leave)
    timer.cancel()
  }
}
