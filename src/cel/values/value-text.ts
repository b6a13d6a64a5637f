// Text forms of values: numbers as upstream writes them, and keys in errors.
import { Duration, Timestamp } from './time-values.ts'
import { Uint, type Value } from './value.ts'

/** The shortest exact form, with an exponent below 1e-4 and from 1e6 on, as upstream does. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return plainText(value, mantissa, power)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** JavaScript writes small numbers with an exponent where upstream does not. */
function plainText(value: number, mantissa: string, power: number): string {
  if (power >= 0 || power >= -6) return String(value)
  const digits = mantissa.replace(/[-.]/g, '')
  return `${value < 0 ? '-' : ''}0.${'0'.repeat(-power - 1)}${digits}`
}

/** The form in errors. */
export function valueText(value: Value): string {
  if (typeof value === 'number') return doubleText(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp || value instanceof Duration) return value.toString()
  return typeof value === 'object' && value !== null ? '' : String(value)
}
