// What can be typed at a position: the fields of the object that it does not have yet, and the values of a field.
import { checkedCharsMax, schemaAt, type TextRange } from './yaml-documents.ts'
import { anyKind, type KnownKinds } from './known-kinds.ts'
import type { SchemaNode } from './schema-node.ts'
import { placeAt, type TextPlace } from './text-place.ts'

export interface Completion {
  readonly kind: 'field' | 'value'
  readonly label: string
  /** What is inserted. */
  readonly insert: string
  /** Its type, and whether it is required. */
  readonly detail: string
  readonly description: string
  readonly isRequired: boolean
}

export interface Completions extends TextRange {
  readonly options: readonly Completion[]
}

/** Completions beyond this are not offered; typing narrows them down. */
const optionsMax = 500

export function completionsAt(text: string, position: number, kinds: KnownKinds): Completions | undefined {
  if (text.length > checkedCharsMax) return undefined
  const place = placeAt(text, position)
  if (place === undefined) return undefined
  const options = place.kind === 'field' ? fieldOptions(place, kinds) : valueOptions(place, kinds)
  return options.length === 0 ? undefined : { from: place.from, to: place.to, options: options.slice(0, optionsMax) }
}

function fieldOptions(place: TextPlace, kinds: KnownKinds): readonly Completion[] {
  const { path, document } = place
  const schema = schemaAt(kinds, document, path) ?? (path.length === 0 ? anyKind : undefined)
  if (schema === undefined) return []
  if (schema.types.has('array')) return place.hasColon ? [] : itemOptions(place, schema)
  // What follows a dash is an item, which may be a value instead of an object.
  if (schema.fields.length === 0) return place.present.length === 0 && !place.hasColon ? valuesOf(schema) : []
  return optionsOf(schema, place, '')
}

/** A list without a dash: its items begin with one. */
const itemOptions = (place: TextPlace, { item }: SchemaNode): readonly Completion[] =>
  place.present.length > 0 || item === undefined ? [] : optionsOf(item, { ...place, column: place.column + 2 }, '- ')

/** Required fields first, then in alphabetical order. */
function optionsOf(
  schema: SchemaNode,
  { present, hasColon, column }: Pick<TextPlace, 'present' | 'hasColon' | 'column'>,
  prefix: string,
): readonly Completion[] {
  const required = new Set(schema.required)
  return schema.fields
    .filter((name) => !present.includes(name))
    .toSorted((a, b) => Number(required.has(b)) - Number(required.has(a)) || (a < b ? -1 : 1))
    .map((name): Completion => {
      const field = schema.field(name)
      const isRequired = required.has(name)
      return {
        kind: 'field',
        label: `${prefix}${name}`,
        insert: `${prefix}${yamlWord(name)}${hasColon ? '' : `:${startOf(field, column)}`}`,
        detail: `${field?.typeText ?? 'any'}${isRequired ? ', required' : ''}`,
        description: field?.description ?? '',
        isRequired,
      }
    })
}

/** What precedes the value of a field: a space, or the line of its first field or item. */
function startOf(field: SchemaNode | undefined, column: number): string {
  const types = field?.types ?? new Set()
  if (types.size === 1 && types.has('array')) return `\n${' '.repeat(column)}- `
  return types.size === 1 && types.has('object') ? `\n${' '.repeat(column + 2)}` : ' '
}

function valueOptions({ path, document }: TextPlace, kinds: KnownKinds): readonly Completion[] {
  if (path.length === 1 && path[0] === 'apiVersion')
    return valueCompletions(
      kinds.all
        .filter(({ kind }) => document.kind === '' || kind === document.kind)
        .map(({ apiVersion }) => apiVersion),
    )
  if (path.length === 1 && path[0] === 'kind')
    return valueCompletions(
      kinds.all
        .filter(({ apiVersion }) => document.apiVersion === '' || apiVersion === document.apiVersion)
        .map(({ kind }) => kind),
    )
  const schema = schemaAt(kinds, document, path)
  return schema === undefined ? [] : valuesOf(schema)
}

function valuesOf(schema: SchemaNode): readonly Completion[] {
  if (schema.values.length > 0) return valueCompletions(schema.values)
  return schema.types.has('boolean') ? valueCompletions([true, false]) : []
}

const valueCompletions = (values: readonly unknown[]): readonly Completion[] =>
  [...new Set(values)].map((value) => ({
    kind: 'value',
    label: String(value),
    insert: typeof value === 'string' ? yamlWord(value) : JSON.stringify(value),
    detail: '',
    description: '',
    isRequired: false,
  }))

/** A word that YAML reads as this text. */
const yamlWord = (text: string): string =>
  /^[A-Za-z_$/][\w./$@+-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
