// Eviction thresholds, parsed from flags: `memory.available<100Mi,nodefs.available<10%`.
import { quantityNanos } from '../../schema/scalar/quantity.ts'

export const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const
export type EvictionSignal = (typeof evictionSignals)[number]

/** An absolute quantity or a share of the capacity. */
export type ThresholdAmount =
  | { readonly kind: 'quantity'; readonly text: string; readonly units: number }
  | { readonly kind: 'share'; readonly text: string; readonly share: number }

export interface Threshold {
  readonly signal: EvictionSignal
  readonly below: ThresholdAmount
  /** How long the threshold must be met before pods are evicted; 0 for hard thresholds. */
  readonly graceMs: number
  /** Minimum reclaim: how much must be available above the threshold before it counts as no longer met. */
  readonly reclaim: ThresholdAmount | undefined
}

/** Upstream's defaults on Linux. */
export const defaultHardThresholds =
  'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%'

/** The threshold in units of the capacity. */
export const amountOf = (amount: ThresholdAmount, capacity: number): number =>
  amount.kind === 'quantity' ? amount.units : Math.floor(amount.share * capacity)

const nanosPerUnit = 1_000_000_000n

export function parseAmount(text: string): ThresholdAmount {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1) || Number.NaN)
    if (!(percent >= 0 && percent <= 100)) throw new Error(`${JSON.stringify(text)} is not a percentage`)
    return { kind: 'share', text, share: percent / 100 }
  }
  const nanos = quantityNanos(text)
  if (nanos === undefined || nanos < 0n)
    throw new Error(`${JSON.stringify(text)} is neither a quantity nor a percentage`)
  return { kind: 'quantity', text, units: Number(nanos / nanosPerUnit) }
}

/** Parses `signal<amount` or `signal=amount`, separated by commas. */
export function parseSignals(text: string, sign: '<' | '='): Map<EvictionSignal, string> {
  const found = new Map<EvictionSignal, string>()
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [name = '', amount] = part.split(sign)
    const signal = evictionSignals.find((one) => one === name.trim())
    if (signal === undefined || amount === undefined)
      throw new Error(`${JSON.stringify(part)} is not a threshold such as memory.available${sign}100Mi`)
    if (found.has(signal)) throw new Error(`${signal} is specified twice`)
    found.set(signal, amount.trim())
  }
  return found
}

export interface ThresholdFlags {
  readonly hard: string
  readonly soft: string
  /** Grace period of soft thresholds, by signal. */
  readonly softGraceMs: ReadonlyMap<EvictionSignal, number>
  readonly minimumReclaim: string
}

/** Throws when a flag is invalid. */
export function parseThresholds({ hard, soft, softGraceMs, minimumReclaim }: ThresholdFlags): readonly Threshold[] {
  const reclaims = parseSignals(minimumReclaim, '=')
  const reclaimOf = (signal: EvictionSignal) => {
    const text = reclaims.get(signal)
    return text === undefined ? undefined : parseAmount(text)
  }
  const softOnes = [...parseSignals(soft, '<')].map(([signal, text]) => {
    const graceMs = softGraceMs.get(signal)
    if (graceMs === undefined)
      throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`)
    return { signal, below: parseAmount(text), graceMs, reclaim: reclaimOf(signal) }
  })
  const hardOnes = [...parseSignals(hard, '<')]
    // A threshold of 0 or 0 % disables the default of that signal.
    .filter(([, text]) => text !== '0' && text !== '0%')
    .map(([signal, text]) => ({ signal, below: parseAmount(text), graceMs: 0, reclaim: reclaimOf(signal) }))
  return [...softOnes, ...hardOnes]
}
