// Path elements: how one step into an object is written in FieldsV1: `f:name`, `k:{"key":"value"}`, `v:"item"`, `i:0`.
import { isJsonObject } from '../json/json-value.ts'

/** Stands in a set for the object that holds the other elements. */
export const self = '.'

export const fieldElement = (name: string): string => `f:${name}`

/** `.name`, `[key="value"]`, `[="item"]`, `[0]`: as messages write it. */
export function elementText(element: string): string {
  const content = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${content}`
    case 'k':
      return `[${Object.entries(JSON.parse(content) as object)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${content}]`
    default:
      return `[${content}]`
  }
}

/** The order in which upstream writes and lists elements: names, keys, values, indices; numbers by their value. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0
  if (a[0] !== b[0]) return kindRank(a) - kindRank(b)
  if (a[0] === 'f') return a < b ? -1 : 1
  let index = 2
  while (a[index] === b[index]) index++
  const start = numberStart(a, index)
  if (start >= 0) return Number.parseFloat(a.slice(start)) - Number.parseFloat(b.slice(start))
  // A text that ends here is the shorter one, whatever stands in the other.
  if (a[index] === '"' || b[index] === '"') return a[index] === '"' ? -1 : 1
  return a < b ? -1 : 1
}

const kindRank = (element: string): number => '.fkvi'.indexOf(element[0] ?? '')

/** Where the number begins in which two elements first differ; negative when they differ in a text. */
function numberStart(element: string, index: number): number {
  let start = index
  while (start > 2 && isNumeral(element.charCodeAt(start - 1))) start--
  const isNumber = isNumeral(element.charCodeAt(start))
  const isValue = start === 2 || (element[start - 1] === ':' && element[start - 2] === '"')
  return isNumber && isValue ? start : -1
}

/** Digits, sign and point. */
const isNumeral = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e

/** Whether a client's text is an element at all. */
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
