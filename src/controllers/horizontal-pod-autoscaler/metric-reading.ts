// MetricReading: what a metrics API has returned for one metric. Amounts are milli-units, as upstream counts them.
import { canonicalQuantity, quantityNanos, quantityText } from '../../schema/scalar/quantity.ts'

/** The usage of one pod. */
export interface PodSample {
  readonly milli: bigint
  readonly atMs: number
  /** The time over which it was measured, which ends at `atMs`. */
  readonly windowMs: number
}

export type MetricReading =
  | { readonly kind: 'samples'; readonly samples: ReadonlyMap<string, PodSample> }
  | { readonly kind: 'values'; readonly milli: readonly bigint[] }
  | { readonly kind: 'failed'; readonly message: string }

const nanosPerMilli = 1_000_000n

/** The amount in milli-units, rounded up. */
export function milliOf(quantity: string | undefined): bigint {
  const nanos = quantityNanos(quantity ?? '0') ?? 0n
  const milli = nanos / nanosPerMilli
  return nanos > 0n && nanos % nanosPerMilli !== 0n ? milli + 1n : milli
}

/** Memory has binary suffixes where they are exact. */
export function milliText(milli: bigint, resource = ''): string {
  const text = resource === 'memory' ? quantityText(milli * nanosPerMilli, '1Ki') : `${milli}m`
  return canonicalQuantity(text) ?? text
}
