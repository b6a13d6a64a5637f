// What decode asks of single values: errors in the words of Go's decoder, integers, times and quantities.
import { structName } from './go-names.ts'
import { jsonKind } from '../json/json-value.ts'
import { canonicalQuantity } from '../scalar/quantity.ts'

/** The body is not of the declared type: the whole request is malformed. */
export class DecodeError extends Error {
  override name = 'DecodeError'
}

/** A mistake whose place is known only when it has left all that it stands in: the names come innermost first. */
export class FieldTypeError extends Error {
  readonly #text: (path: string) => string
  readonly #names: string[] = []

  constructor(text: (path: string) => string) {
    super('a mistake in a body')
    this.#text = text
  }

  within(name: string): this {
    this.#names.push(name)
    return this
  }

  toDecodeError(): DecodeError {
    return new DecodeError(this.#text(this.#names.toReversed().join('.')))
  }
}

/** A value of another type than the field of the message; Go says on which struct, and the path without indices. */
export const wrongType = (
  value: unknown,
  wanted: string,
  messageName: string,
  shown = jsonKind(value),
): FieldTypeError => {
  const struct = structName(messageName)
  return new FieldTypeError(
    (path) => `json: cannot unmarshal ${shown} into Go struct field ${struct}.${path} of type ${wanted}`,
  )
}

/**
 * An integer that is none, or too large. Numbers are doubles here, so an int64 beyond 2^53 cannot be kept as it was
 * sent; it is refused rather than changed.
 */
export const wrongInteger = (value: unknown, wanted: string, messageName: string): FieldTypeError =>
  wrongType(value, wanted, messageName, typeof value === 'number' ? `number ${value}` : jsonKind(value))

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const notBase64 = /[^A-Za-z0-9+/]/

/** Bytes as base64; line breaks in it mean nothing, as to Go's decoder, and a list of small numbers will do. */
export function decodeBytes(sent: string | readonly unknown[], messageName: string): string {
  if (typeof sent !== 'string') return Uint8Array.from(sent, (item) => decodeByte(item, messageName)).toBase64()
  const text = /[\r\n]/.test(sent) ? sent.replaceAll(/[\r\n]/g, '') : sent
  if (base64.test(text)) return text
  const wrong = notBase64.exec(text)?.index ?? text.length
  // A group that is cut off is told by where it begins.
  throw new DecodeError(`illegal base64 data at input byte ${wrong < text.length ? wrong : wrong - (wrong % 4)}`)
}

function decodeByte(value: unknown, messageName: string): number {
  if (value === null) return 0
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255) return value
  throw wrongInteger(value, 'uint8', messageName)
}

const timestamp = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
/** Go's picture of each form, which its parser names in errors. */
const timeLayouts = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' }

/** The same time often comes several times in a row. */
let lastTime = ''

export function decodeTime(text: string, type: 'time' | 'microTime'): string {
  if (text === lastTime && text !== '') return text
  if (timestamp.test(text) && !Number.isNaN(Date.parse(text))) return (lastTime = text)
  const shown = JSON.stringify(text)
  throw new DecodeError(`parsing time ${shown} as "${timeLayouts[type]}": cannot parse ${shown} as "2006"`)
}

export function decodeQuantity(value: unknown): string {
  const canonical =
    typeof value === 'string' || typeof value === 'number' ? canonicalQuantity(String(value)) : undefined
  if (canonical !== undefined) return canonical
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
}
