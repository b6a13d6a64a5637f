// Parses values of the kubelet's flags. Errors describe the expected form; the caller adds the name of the flag.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import { parseSignals, type EvictionSignal } from '../../kubelet/eviction/thresholds.ts'
import type { ResourceAmounts } from '../../kubelet/resources/resource-amounts.ts'
import type { ShutdownPeriod } from '../../kubelet/shutdown/shutdown-order.ts'
import { quantityNanos, quantityUnits } from '../../schema/scalar/quantity.ts'

/** `a,b` */
export const listIn = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export function bytesIn(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (quantityNanos(text) === undefined) throw new Error(`${JSON.stringify(text)} is no amount such as 10Mi`)
  return quantityUnits(text)
}

export function timeIn(text: string | undefined, fallback: number): number {
  const ms = text === undefined ? fallback : durationMs(text)
  if (ms === undefined) throw new Error(`${JSON.stringify(text)} is not a duration such as 2m`)
  return ms
}

export function urlIn(text = ''): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error(`${JSON.stringify(text)} is no address of HTTP`)
  return text
}

export function countIn(text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw new Error(`${JSON.stringify(text)} is no whole number up to ${most}`)
  return Number(text)
}

export function switchIn(text = 'false'): boolean {
  if (text !== 'true' && text !== 'false') throw new Error(`${JSON.stringify(text)} is neither true nor false`)
  return text === 'true'
}

/** `0=30s,2000000000=10s` */
export const periodsIn = (text = ''): readonly ShutdownPeriod[] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [priority = '', time = ''] = part.split('=').map((half) => half.trim())
      const ms = durationMs(time)
      if (!/^-?\d{1,10}$/.test(priority) || ms === undefined)
        throw new Error(`${JSON.stringify(part)} is no period such as 2000000000=10s`)
      return { priority: Number(priority), seconds: Math.floor(ms / 1000) }
    })

/** `cpu=200m,memory=500Mi` */
export function amountsIn(text = ''): ResourceAmounts {
  const pairs = text.split(',').filter((part) => part !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', amount = ''] = pair.split('=').map((part) => part.trim())
      if (name === '' || quantityNanos(amount) === undefined)
        throw new Error(`${JSON.stringify(pair)} is no amount such as memory=500Mi`)
      return [name, amount]
    }),
  )
}

/** `memory.available=1m30s`: milliseconds by signal. */
export const signalTimesIn = (text = ''): ReadonlyMap<EvictionSignal, number> =>
  new Map([...parseSignals(text, '=')].map(([signal, time]) => [signal, timeIn(time, 0)]))
