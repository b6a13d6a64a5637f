// What Go's templates consider empty, and how they print values.
import { lookup } from '../../base/collections/lookup.ts'
import type { TemplateValue } from './template-nodes.ts'

export const isMapValue = (value: TemplateValue): value is { readonly [key: string]: TemplateValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function isEmpty(value: TemplateValue): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isMapValue(value) && Object.keys(value).length === 0
}

/** `<no value>` for what is missing, `[1 2]` for a list, `map[a:1]` for a map. */
export function printedValue(value: TemplateValue): string {
  if (value === undefined || value === null) return '<no value>'
  return printedInside(value)
}

function printedInside(value: TemplateValue): string {
  if (value === undefined || value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map((item: TemplateValue) => printedInside(item)).join(' ')}]`
  if (isMapValue(value))
    return `map[${Object.keys(value)
      .toSorted()
      .map((key) => `${key}:${printedInside(lookup(value, key))}`)
      .join(' ')}]`
  return String(value)
}
