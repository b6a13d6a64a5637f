// For the cost test: every list and map of a kind that a client can make longer, and objects in which one of them is
// long.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Field, Message, ScalarName, Type } from '../../schema/descriptor/field.ts'
import { isJsonObject, type JsonValue } from '../../schema/json/json-value.ts'

/** Fields from the top of the object to one that can be long. A list on the path has one item. */
export type Place = readonly string[]

/** Types may contain themselves. */
const depthMax = 9

/** Every list and map of the kind. A field of a message that occurs several times is listed once. */
export function longPlaces(kind: Kind, seen: Set<string>): Place[] {
  const places: Place[] = []
  const visit = (message: Message, path: Place): void => {
    for (const [name, field] of Object.entries(message.fields)) {
      const id = `${message.name}.${name}`
      if (path.length >= depthMax || seen.has(id)) continue
      seen.add(id)
      const at = [...path, name]
      if (isLong(field.type)) places.push(at)
      const inner = innermost(field.type)
      if (inner !== undefined) visit(inner, at)
    }
  }
  visit(kind.message, [])
  return places
}

const isLong = (type: Type): boolean => typeof type === 'object' && type.kind !== 'message'

function innermost(type: Type): Message | undefined {
  if (typeof type === 'string') return undefined
  if (type.kind === 'message') return type
  return innermost(type.kind === 'list' ? type.element : type.value)
}

export interface Growth {
  readonly count: number
  /** Whether all items are the same, as duplicates are, or all different. */
  readonly areEqual: boolean
  /** Whether the other lists and maps beside it and on the path to it are as long: some checks compare two lists. */
  readonly isSurrounded: boolean
}

/** The body with this many items or entries at the path. */
export function grown(kind: Kind, body: object, place: Place, growth: Growth): object {
  const copy = structuredClone(body) as Record<string, unknown>
  let holder = copy
  let message = kind.message
  for (const name of place.slice(0, -1)) {
    const type = message.fields[name]?.type ?? 'string'
    if (growth.isSurrounded) surround(holder, message, name, growth)
    holder[name] ??= made(type, 0)
    let value = holder[name]
    while (Array.isArray(value)) value = value[0] ??= {}
    if (isMapType(type)) value = Object.values(value as object)[0]
    while (Array.isArray(value)) value = value[0] ??= {}
    holder = value as Record<string, unknown>
    message = innermost(type) as Message
  }
  const name = place.at(-1) ?? ''
  if (growth.isSurrounded) surround(holder, message, name, growth)
  holder[name] = long(message.fields[name] as Field, growth)
  return copy
}

function surround(holder: Record<string, unknown>, message: Message, except: string, growth: Growth): void {
  for (const [name, field] of Object.entries(message.fields))
    if (name !== except && isLong(field.type) && name !== 'managedFields') holder[name] = long(field, growth)
}

const isMapType = (type: Type): boolean => typeof type === 'object' && type.kind === 'map'

function long({ type }: Field, { count, areEqual }: Growth): unknown {
  if (typeof type === 'string') return ''
  const indices = Array.from({ length: count }, (_, index) => index)
  if (type.kind === 'list') return indices.map((index) => made(type.element, areEqual ? 0 : index))
  if (type.kind === 'map') return Object.fromEntries(indices.map((index) => [`k${index}`, made(type.value, index)]))
  return {}
}

/** A value that a list may distinguish from its other items: all scalars are set, and everything required. */
function made(type: Type, index: number, depth = 0): JsonValue {
  if (typeof type === 'string') return scalars[type](index)
  switch (type.kind) {
    case 'list':
      return [made(type.element, index, depth + 1)]
    case 'map':
      return { [`k${index}`]: made(type.value, index, depth + 1) }
    case 'message': {
      if (depth > 3) return {}
      const fields = Object.entries(type.fields).flatMap(([name, field]): [string, JsonValue][] => {
        if (field.enum !== undefined) return [[name, field.enum[index % field.enum.length] ?? '']]
        return typeof field.type === 'string' || field.presence === 'required'
          ? [[name, made(field.type, index, depth + 1)]]
          : []
      })
      return Object.fromEntries(fields)
    }
    default:
      return type satisfies never
  }
}

const scalars: Readonly<Record<ScalarName, (index: number) => JsonValue>> = {
  string: (index) => `n${index}`,
  bool: () => true,
  int32: (index) => (index % 60_000) + 1,
  int64: (index) => index + 1,
  double: (index) => index,
  bytes: () => 'AAE=',
  quantity: (index) => `${index}`,
  duration: (index) => `${index}s`,
  intOrString: (index) => (index % 60_000) + 1,
  time: () => '2030-01-02T03:04:05Z',
  microTime: () => '2030-01-02T03:04:05.000006Z',
  fieldsV1: (index) => ({ [`f:n${index}`]: {} }),
  rawExtension: (index) => ({ a: index }),
  json: (index) => ({ a: index }),
}

/** A valid object of the kind, or one with only a name. */
export function goodBody(kind: Kind, samples: readonly { readonly sent: unknown }[]): object {
  const sample = samples.find(
    ({ sent }) => isJsonObject(sent) && sent['kind'] === kind.kind && sent['apiVersion'] === kind.apiVersion,
  )
  const body = (sample?.sent ?? {}) as Partial<ApiObject>
  return { ...body, apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: 'x', ...body.metadata } }
}
