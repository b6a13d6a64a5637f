// Decoders of single values: bytes, times, quantities and integers.
import { canonicalQuantity } from '../scalar/quantity.ts'
import { DecodeError, wrongInteger } from './decode-error.ts'

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const notBase64 = /[^A-Za-z0-9+/]/

/** Bytes as base64. Like Go's decoder it ignores line breaks and accepts a list of small numbers. */
export function decodeBytes(sent: string | readonly unknown[], messageName: string): string {
  if (typeof sent !== 'string') return Uint8Array.from(sent, (item) => decodeByte(item, messageName)).toBase64()
  const text = /[\r\n]/.test(sent) ? sent.replaceAll(/[\r\n]/g, '') : sent
  if (base64.test(text)) return text
  const wrong = notBase64.exec(text)?.index ?? text.length
  // For a truncated group Go reports the offset of its start.
  throw new DecodeError(`illegal base64 data at input byte ${wrong < text.length ? wrong : wrong - (wrong % 4)}`)
}

function decodeByte(value: unknown, messageName: string): number {
  if (value === null) return 0
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255) return value
  throw wrongInteger(value, 'uint8', messageName)
}

const timestamp = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
/** Go's layout of each type, which its parser names in errors. */
const timeLayouts = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' }

/** The last valid time: the same one is often sent several times in a row. */
let lastTime = ''

export function decodeTime(text: string, type: 'time' | 'microTime'): string {
  if (text === lastTime && text !== '') return text
  if (timestamp.test(text) && !Number.isNaN(Date.parse(text))) return (lastTime = text)
  const shown = JSON.stringify(text)
  throw new DecodeError(`parsing time ${shown} as "${timeLayouts[type]}": cannot parse ${shown} as "2006"`)
}

export function decodeQuantity(value: unknown): string {
  const canonical =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? canonicalQuantity(String(value))
      : undefined
  if (canonical !== undefined) return canonical
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
}

export const isInt32 = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value

/** Integers beyond 2^53 are bigints (exact-json.ts); a double of that size was not sent as an integer. */
export const isInt64 = (value: unknown): boolean => Number.isSafeInteger(value) || typeof value === 'bigint'

/** A floating point number; undefined for a value of another type. */
export const doubleOf = (value: unknown): number | undefined =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
