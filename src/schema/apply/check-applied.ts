// check-applied: whether an applied configuration conforms to its type. Unlike other writes, an apply rejects unknown fields:
// a field that is dropped could not be owned.
import { lookup } from '../../base/collections/lookup.ts'
import type { ScalarName } from '../descriptor/field.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { childStructure } from './compare.ts'
import { itemElement } from './item-element.ts'
import { elementText } from './path-element.ts'
import type { ListStructure, Structure } from './structure.ts'

/** All errors in upstream's wording, each with its path. */
export function checkApplied(structure: Structure, applied: JsonObject): string[] {
  return checked(structure, applied, false)
}

/** The same for an object that is not an applied configuration: its lists may have an item twice. */
export const checkTyped = (structure: Structure, object: JsonObject): string[] => checked(structure, object, true)

function checked(structure: Structure, applied: JsonObject, allowsDuplicates: boolean): string[] {
  const checker: Checker = { structure, applied, allowsDuplicates, steps: [], errors: [] }
  checkValue(checker, structure, applied)
  return checker.errors
}

/** The errors in one text, as upstream joins them. */
export function typeErrorText(errors: readonly string[]): string {
  const [first = '', ...others] = errors
  return others.length === 0 ? first : `errors:\n${errors.map((text) => `  ${text}`).join('\n')}`
}

/** The path of the current value. Its text is only built for errors. */
interface Checker {
  readonly structure: Structure
  readonly applied: JsonObject
  readonly allowsDuplicates: boolean
  readonly steps: (string | number)[]
  readonly errors: string[]
}

/** Deeper nesting is rejected, as in every body. */
const depthMax = 100

function checkValue(checker: Checker, structure: Structure, value: JsonValue): void {
  if (value === null) return
  if (checker.steps.length > depthMax) return wrong(checker, `nested more than ${depthMax} levels deep`)
  switch (structure.kind) {
    case 'scalar': {
      const expected = scalarMismatch(structure.type, value)
      if (expected !== undefined) wrong(checker, expected)
      return
    }
    case 'struct':
    case 'map':
      if (!isJsonObject(value)) return wrong(checker, `expected map, got &{${goText(value)}}`)
      return checkEntries(checker, structure, value)
    case 'list':
      if (!Array.isArray(value)) return wrong(checker, `expected list, got &{${goText(value)}}`)
      return checkItems(checker, structure, value)
    case 'any':
      return
    default:
      return structure satisfies never
  }
}

function wrong({ structure, applied, steps, errors }: Checker, what: string): void {
  let text = ''
  let at: JsonValue = applied
  let shape: Structure | undefined = structure
  for (const step of steps) {
    const child: JsonValue = (at as Record<string | number, JsonValue>)[step] ?? null
    if (typeof step === 'string') text += `.${step}`
    else if (shape?.kind === 'list') text += elementText((isKeyed(shape) && itemElement(shape, child)) || `i:${step}`)
    shape =
      typeof step === 'string' ? shape && childStructure(shape, step) : shape?.kind === 'list' ? shape.element : shape
    at = child
  }
  errors.push(`${text}: ${what}`)
}

const isKeyed = ({ listType }: ListStructure): boolean => listType !== 'atomic'

function checkEntries(
  checker: Checker,
  structure: Extract<Structure, { kind: 'struct' | 'map' }>,
  object: JsonObject,
): void {
  const { steps } = checker
  for (const name in object) {
    const value = object[name]
    if (value === undefined || (steps.length === 0 && (name === 'apiVersion' || name === 'kind'))) continue
    const child = childStructure(structure, name)
    steps.push(name)
    if (child === undefined) wrong(checker, 'field not declared in schema')
    else checkValue(checker, child, value)
    steps.pop()
  }
}

function checkItems(checker: Checker, structure: ListStructure, items: readonly JsonValue[]): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const why = isKeyed(structure) ? unidentified(structure, item) : undefined
    // The items after it are not checked, as upstream.
    if (why !== undefined) return wrong(checker, `element ${index}: ${why}`)
    const element = (isKeyed(structure) && itemElement(structure, item)) || `i:${index}`
    if (seen.has(element) && !checker.allowsDuplicates)
      wrong(checker, `duplicate entries for key ${elementText(element)}`)
    seen.add(element)
    checker.steps.push(index)
    checkValue(checker, structure.element, item)
    checker.steps.pop()
  }
}

/** Why an item cannot be identified; undefined when it can be. */
function unidentified({ listType, keys }: ListStructure, item: JsonValue): string | undefined {
  if (listType === 'set') {
    if (item === null) return "associative list without keys has an element that's an explicit null"
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    return isJsonObject(item) ? "associative list without keys has an element that's a map type" : undefined
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements'
  if (keys.some(({ name, default: otherwise }) => (lookup(item, name) ?? otherwise) !== undefined)) return undefined
  const names = keys.map(({ name }) => JSON.stringify(name)).join(' ')
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
}

function scalarMismatch(type: ScalarName, value: JsonValue): string | undefined {
  switch (type) {
    case 'string':
    case 'bytes':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goText(value)}}`
    case 'bool':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goText(value)}}`
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint'
        ? undefined
        : `expected numeric (int or float), got ${goType(value)}`
    default:
      return typeof value === 'object' ? `expected any scalar, got &{${goText(value)}}` : undefined
  }
}

const goType = (value: JsonValue): string =>
  Array.isArray(value)
    ? '[]interface {}'
    : typeof value === 'object'
      ? 'map[string]interface {}'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value

/** A value as Go's %v writes it. */
export function goText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isJsonObject(value)) return value === null ? '<nil>' : String(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `map[${entries.map(([name, item]) => `${name}:${goText(item ?? null)}`).join(' ')}]`
}
