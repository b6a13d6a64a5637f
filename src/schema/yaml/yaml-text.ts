// yamlText: a JSON value as YAML in the style of upstream. Keys are sorted, and the items of a list are at the indentation of
// its key.
import { goFloat } from '../validation/go-float.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { compareKeys } from './key-order.ts'
import { isOneLine, scalarText } from './scalar-text.ts'

export const yamlText = (value: JsonValue): string => nodeText(value, { indent: 0, column: 0, lead: '' })

const indentation = 2

interface Place {
  /** Of the lines of a list or object that begins here. */
  readonly indent: number
  /** Where the text before the value ends. */
  readonly column: number
  /** What separates the text before the value from a list or object. Their first line is indented after a line break. */
  readonly lead: '' | ' ' | '\n'
}

/** The value with what separates it from the text before it, and a line break at the end. */
function nodeText(value: JsonValue, { indent, column, lead }: Place): string {
  const lines = Array.isArray(value)
    ? value.map((item: JsonValue) => itemText(item, indent))
    : isJsonObject(value)
      ? fieldsOf(value).map(([key, field]) => fieldText(key, field, indent))
      : undefined
  const separator = lead === '' ? '' : ' '
  if (lines === undefined) return `${separator}${textOf(value, indent, column + separator.length)}`
  if (lines.length === 0) return `${separator}${Array.isArray(value) ? '[]' : '{}'}\n`
  const margin = ' '.repeat(indent)
  return `${lead}${lead === '\n' ? margin : ''}${lines.join(margin)}`
}

const fieldsOf = (object: JsonObject): [key: string, value: JsonValue][] =>
  Object.entries(object)
    .filter((field): field is [string, JsonValue] => field[1] !== undefined)
    .toSorted(([a], [b]) => compareKeys(a, b))

const itemText = (item: JsonValue, indent: number): string =>
  `-${nodeText(item, { indent: indent + indentation, column: indent + 1, lead: ' ' })}`

/** Keys of this many bytes are followed by their value; longer ones are marked by a question mark. */
const simpleKeyBytesMax = 128
const encoder = new TextEncoder()
const utf8BytesMax = 3 // of a UTF-16 unit
const isSimpleKey = (key: string): boolean =>
  (key.length * utf8BytesMax <= simpleKeyBytesMax || encoder.encode(key).length <= simpleKeyBytesMax) && isOneLine(key)

function fieldText(key: string, value: JsonValue, indent: number): string {
  const inner = indent + indentation
  if (!isSimpleKey(key)) {
    const head = `? ${scalarText(key, inner, inner)}${' '.repeat(indent)}:`
    return `${head}${nodeText(value, { indent: inner, column: indent + 1, lead: ' ' })}`
  }
  const head = `${scalarText(key, inner, undefined).slice(0, -1)}:`
  const isList = Array.isArray(value) && value.length > 0
  return `${head}${nodeText(value, { indent: isList ? indent : inner, column: indent + head.length, lead: '\n' })}`
}

function textOf(value: JsonValue, indent: number, column: number): string {
  if (typeof value === 'string') return scalarText(value, indent, column)
  return `${typeof value === 'number' ? numberText(value) : String(value)}\n`
}

/** Upstream reads the numbers of JSON again: those that are no 64-bit integers are floating point numbers. */
const numberText = (value: number): string =>
  Number.isInteger(value) && value > -(2 ** 63) && value < 2 ** 64 ? String(value) : goFloat(value)
