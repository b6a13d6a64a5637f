// What tells an item of a list apart: its keys or its value, as a path element.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonValue } from '../json/json-value.ts'
import type { ListStructure } from './structure.ts'

/** The same names come again and again: their elements are kept, up to a bound. */
const writtenMax = 2_000
const writtenCharactersMax = 100

/** The element that tells this item apart; undefined when the item lacks what its list is keyed by. */
export function itemElement(structure: ListStructure, item: JsonValue): string | undefined {
  const { listType, keys, written } = structure
  const [key] = keys
  const single =
    listType === 'set' ? item : keys.length === 1 && key && isJsonObject(item) ? lookup(item, key.name) : undefined
  if (typeof single !== 'string') return writtenElement(structure, item)
  const known = written.get(single)
  if (known !== undefined) return known
  const element = writtenElement(structure, item)
  if (single.length > writtenCharactersMax || element === undefined) return element
  if (written.size >= writtenMax) written.clear()
  written.set(single, element)
  return element
}

function writtenElement({ listType, keys }: ListStructure, item: JsonValue): string | undefined {
  if (listType === 'set') return `v:${JSON.stringify(item)}`
  if (!isJsonObject(item)) return undefined
  let text = ''
  for (const { name, default: otherwise } of keys) {
    const value = lookup(item, name) ?? otherwise
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`
  }
  return text === '' ? undefined : `k:{${text}}`
}

/** Whether two items have the same element, which need not be written for it. */
export function isSameItem({ listType, keys }: ListStructure, a: JsonValue, b: JsonValue): boolean {
  if (listType === 'set') return a === b
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  for (const { name, default: otherwise } of keys)
    if ((lookup(a, name) ?? otherwise) !== (lookup(b, name) ?? otherwise)) return false
  return true
}
