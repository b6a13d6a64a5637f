// Durations as Go writes them (1m30s, 1.5s, 100ms) and counts them: in billionths of a second.

const unitNanos: Readonly<Record<string, number>> = {
  h: 3.6e12,
  m: 6e10,
  s: 1e9,
  ms: 1e6,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ns: 1,
}

/** 0 for what is no duration. */
export function durationNanos(text: string): number {
  const isNegative = text.startsWith('-')
  const parts = [...text.matchAll(/(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|μs|ns)/g)]
  const nanos = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitNanos[unit] ?? 0), 0)
  return isNegative ? -nanos : nanos
}

export function durationText(nanos: number): string {
  if (nanos < 0) return `-${durationText(-nanos)}`
  if (nanos === 0) return '0s'
  for (const unit of ['ns', 'µs', 'ms'] as const)
    if (nanos < (unitNanos[unit] ?? 1) * 1000) return `${nanos / (unitNanos[unit] ?? 1)}${unit}`
  const hours = Math.floor(nanos / 3.6e12)
  const minutes = Math.floor((nanos % 3.6e12) / 6e10)
  const seconds = (nanos % 6e10) / 1e9
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}

/** Of so many thousandths of a second. */
export const durationTextOfMs = (ms: number): string => durationText(Math.round(ms) * 1e6)
