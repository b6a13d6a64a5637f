// The path element that identifies an item of a list: its keys or its value.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonValue } from '../json/json-value.ts'
import type { ListStructure } from './structure.ts'
import { jsonText } from '../json/exact-json.ts'

/** Elements are cached up to a bound, because the same names occur often. */
const writtenMax = 2_000
const writtenCharactersMax = 100

/** The element of this item; undefined when the item lacks the keys of its list. */
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
  if (listType === 'set') return `v:${jsonText(item)}`
  if (!isJsonObject(item)) return undefined
  let text = ''
  for (const { name, default: otherwise } of keys) {
    const value = lookup(item, name) ?? otherwise
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonText(value)}`
  }
  return text === '' ? undefined : `k:{${text}}`
}

/** Whether two items have the same element, without building it. */
export function isSameItem({ listType, keys }: ListStructure, a: JsonValue, b: JsonValue): boolean {
  if (listType === 'set') return a === b
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  for (const { name, default: otherwise } of keys)
    if ((lookup(a, name) ?? otherwise) !== (lookup(b, name) ?? otherwise)) return false
  return true
}
