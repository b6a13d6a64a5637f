// Thresholds of eviction: from which amount on a signal of the node means pressure, as texts of flags say it:
// `memory.available<100Mi,nodefs.available<10%`.
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

/** An amount of its own, or a share of what the node has. */
export type ThresholdAmount =
  | { readonly kind: 'quantity'; readonly text: string; readonly units: number }
  | { readonly kind: 'share'; readonly text: string; readonly share: number }

export interface Threshold {
  readonly signal: EvictionSignal
  readonly below: ThresholdAmount
  /** How long it must be met before pods go; 0: at once. */
  readonly graceMs: number
  /** How much beyond the threshold is freed, so that it is not met again at once. */
  readonly reclaim: ThresholdAmount | undefined
}

/** As upstream's kubelet has them on Linux when nothing is said. */
export const defaultHardThresholds =
  'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%'

/** The amount of a threshold, of all that there is. */
export const amountOf = (amount: ThresholdAmount, capacity: number): number =>
  amount.kind === 'quantity' ? amount.units : Math.floor(amount.share * capacity)

const nanosPerUnit = 1_000_000_000n

export function parseAmount(text: string): ThresholdAmount {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1) || Number.NaN)
    if (!(percent >= 0 && percent <= 100)) throw new Error(`${JSON.stringify(text)} is no percentage`)
    return { kind: 'share', text, share: percent / 100 }
  }
  const nanos = quantityNanos(text)
  if (nanos === undefined || nanos < 0n)
    throw new Error(`${JSON.stringify(text)} is neither an amount nor a percentage`)
  return { kind: 'quantity', text, units: Number(nanos / nanosPerUnit) }
}

/** `signal<amount` or `signal=amount`, with commas between. */
export function parseSignals(text: string, sign: '<' | '='): Map<EvictionSignal, string> {
  const found = new Map<EvictionSignal, string>()
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [name = '', amount] = part.split(sign)
    const signal = evictionSignals.find((one) => one === name.trim())
    if (signal === undefined || amount === undefined)
      throw new Error(`${JSON.stringify(part)} is no threshold such as memory.available${sign}100Mi`)
    if (found.has(signal)) throw new Error(`${signal} is said twice`)
    found.set(signal, amount.trim())
  }
  return found
}

export interface ThresholdFlags {
  readonly hard: string
  readonly soft: string
  /** Milliseconds that a soft threshold must be met, by signal. */
  readonly softGraceMs: ReadonlyMap<EvictionSignal, number>
  readonly minimumReclaim: string
}

/** Throws with what is wrong. */
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
    // A threshold of nothing is none: so one of the defaults is switched off.
    .filter(([, text]) => text !== '0' && text !== '0%')
    .map(([signal, text]) => ({ signal, below: parseAmount(text), graceMs: 0, reclaim: reclaimOf(signal) }))
  return [...softOnes, ...hardOnes]
}
