// Path elements: the steps of a path in FieldsV1: `f:name`, `k:{"key":"value"}`, `v:"item"`, `i:0`.
import { isJsonObject } from '../json/json-value.ts'
import { jsonText, parseJson } from '../json/exact-json.ts'

/** In a set, the object that contains the other elements. */
export const self = '.'

export const fieldElement = (name: string): string => `f:${name}`

/** `.name`, `[key="value"]`, `[="item"]`, `[0]`: the form in messages. */
export function elementText(element: string): string {
  const content = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${content}`
    case 'k':
      return `[${Object.entries(parseJson(content) as object)
        .map(([name, value]) => `${name}=${jsonText(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${content}]`
    default:
      return `[${content}]`
  }
}

/** Upstream's order of elements: names, keys, values, indices; numbers by value. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0
  if (a[0] !== b[0]) return kindRank(a) - kindRank(b)
  if (a[0] === 'f') return a < b ? -1 : 1
  let index = 2
  while (a[index] === b[index]) index++
  const start = numberStart(a, index)
  if (start >= 0) return Number.parseFloat(a.slice(start)) - Number.parseFloat(b.slice(start))
  // A text that ends here is the lower one.
  if (a[index] === '"' || b[index] === '"') return a[index] === '"' ? -1 : 1
  return a < b ? -1 : 1
}

const kindRank = (element: string): number => '.fkvi'.indexOf(element[0] ?? '')

/** The start of the number in which two elements first differ; negative when they differ in a text. */
function numberStart(element: string, index: number): number {
  let start = index
  while (start > 2 && isNumeral(element.charCodeAt(start - 1))) start--
  const isNumber = isNumeral(element.charCodeAt(start))
  const isValue = start === 2 || (element[start - 1] === ':' && element[start - 2] === '"')
  return isNumber && isValue ? start : -1
}

/** Digits, sign and point. */
const isNumeral = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e

/** Whether a text from a client is an element. */
export function isElement(text: string): boolean {
  if (text === self) return true
  if (text[1] !== ':' || kindRank(text) < 1) return false
  if (text[0] === 'f') return true
  try {
    const value: unknown = JSON.parse(text.slice(2))
    return text[0] === 'v' || (text[0] === 'k' ? isJsonObject(value) : Number.isInteger(value))
  } catch {
    return false
  }
}
