// objectJson: an object in the stored order as JSON. The field sets of managedFields contain many escaped quotes, which
// slow down JSON.stringify for the whole call. Many objects share such sets, so they are encoded once and inserted.
import { lookup } from '../../base/collections/lookup.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import { isInterned, memoizeInterned } from '../../base/collections/interned-values.ts'
import type { ManagedFieldsEntry } from '../../api/meta/v1/object-meta.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { jsonText } from '../../schema/json/exact-json.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'

export function objectJson(object: ApiObject): string {
  const { kind, apiVersion, metadata } = object
  const managed = metadata.managedFields
  if (managed === undefined || !managed.some(hasQuotes)) return jsonText(object)
  let text = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`
  const plain = jsonText({ ...metadata, managedFields: undefined })
  text += `${plain.slice(1, -1)}${plain.length > 2 ? ',' : ''}"managedFields":${entriesText(managed)}}`
  for (const name in object) {
    const value = lookup(object as unknown as JsonObject, name)
    if (value === undefined || name === 'kind' || name === 'apiVersion' || name === 'metadata') continue
    text += `,${JSON.stringify(name)}:${typeof value === 'object' && value !== null ? partText(value) : jsonText(value)}`
  }
  return `${text}}`
}

/**
 * The JSON with a resourceVersion as the first field of the metadata. Names of kinds and versions have no braces, so
 * the second brace opens the metadata.
 */
export function withResourceVersion(text: string, version: string): string {
  const place = text.indexOf('{', 1) + 1
  const comma = text.charCodeAt(place) === closeBrace ? '' : ','
  return `${text.slice(0, place)}"resourceVersion":"${version}"${comma}${text.slice(place)}`
}

const closeBrace = 0x7d

const sharedText = memoizeInterned((value: object): string => jsonText(value))

const partText = (value: object): string => (isInterned(value) ? sharedText(value) : jsonText(value))

function entriesText(entries: readonly ManagedFieldsEntry[]): string {
  let text = ''
  for (const entry of entries) {
    const fields = fieldsIn(entry)
    const plain = jsonText(fields === undefined ? entry : { ...entry, fieldsV1: undefined })
    const set = fields === undefined ? '' : `${plain.length > 2 ? ',' : ''}"fieldsV1":${setOf(fields).text}`
    text += `${text === '' ? '' : ','}${plain.slice(0, -1)}${set}}`
  }
  return `[${text}]`
}

interface WrittenSet {
  readonly text: string
  readonly hasQuotes: boolean
}

const setsMax = 1_000
const sets = new RecentMap<object, WrittenSet>(setsMax)
/** Longer ones, of which each is kept as long as its set. */
const longSets = new WeakMap<object, WrittenSet>()
const cachedCharactersMax = 16_384

function setOf(set: object): WrittenSet {
  const known = sets.get(set) ?? longSets.get(set)
  if (known !== undefined) return known
  const text = jsonText(set)
  const written = { text, hasQuotes: text.includes('\\') }
  if (text.length <= cachedCharactersMax) sets.set(set, written)
  else longSets.set(set, written)
  return written
}

const fieldsIn = ({ fieldsV1 }: ManagedFieldsEntry): object | undefined =>
  typeof fieldsV1 === 'object' && fieldsV1 !== null ? fieldsV1 : undefined

function hasQuotes(entry: ManagedFieldsEntry): boolean {
  const fields = fieldsIn(entry)
  return fields !== undefined && setOf(fields).hasQuotes
}
