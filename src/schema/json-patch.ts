// JSON patch (RFC 6902): a list of operations, applied in order to a value that is never changed itself.
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from './json-value.ts'

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: JsonValue
}

export class JsonPatchError extends Error {
  override name = 'JsonPatchError'
}

/** As upstream: a longer patch is refused. */
export const jsonPatchOperationsMax = 10_000

/** As upstream: what all copies of a patch may add to the document. */
export const jsonPatchCopiedCharactersMax = 3 << 20

export function jsonPatch(target: JsonValue, operations: readonly JsonPatchOperation[]): JsonValue {
  let [document, copied] = [target, 0]
  for (const operation of operations) {
    checkShape(operation)
    if (operation.op === 'copy') {
      copied += JSON.stringify(read(document, operation.from ?? '') ?? null).length
      if (copied > jsonPatchCopiedCharactersMax)
        throw new JsonPatchError(`the copies of the patch are larger than ${jsonPatchCopiedCharactersMax}`)
    }
    document = applyOperation(document, operation)
  }
  return document
}

/** The operations come from a body and may be anything. */
function checkShape(operation: unknown): void {
  const { op, path, from = '' } = isJsonObject(operation) ? operation : {}
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw new JsonPatchError(`an operation needs op and path as text: ${JSON.stringify(operation)}`)
}

function applyOperation(target: JsonValue, operation: JsonPatchOperation): JsonValue {
  const { op, path, from = '', value = null } = operation
  switch (op) {
    case 'add':
      return change(target, path, (parent, key) => added(parent, key, value))
    case 'remove':
      return change(target, path, removed)
    case 'replace':
      return change(target, path, (parent, key) => replaced(parent, key, value))
    case 'move': {
      const moved = read(target, from) ?? null
      return change(change(target, from, removed), path, (parent, key) => added(parent, key, moved))
    }
    case 'copy':
      return change(target, path, (parent, key) => added(parent, key, read(target, from) ?? null))
    case 'test':
      if (!equalValues(read(target, path) ?? null, value)) throw new JsonPatchError(`testing value ${path} failed`)
      return target
    default:
      op satisfies never
      throw new JsonPatchError(`Unexpected kind: ${String(op)}`)
  }
}

type Container = readonly JsonValue[] | JsonObject

/** The document with the container at the end of the path changed; all else is shared. */
function change(
  target: JsonValue,
  path: string,
  apply: (parent: Container, key: string) => Container,
  steps: readonly string[] = stepsOf(path),
): JsonValue {
  const [key = '', ...rest] = steps
  if (!isContainer(target)) throw missing(path)
  if (rest.length === 0) return apply(target, key)
  const child = get(target, key)
  if (child === undefined) throw missing(path)
  return replaced(target, key, change(child, path, apply, rest))
}

const isContainer = (value: JsonValue | undefined): value is Container => isJsonObject(value) || Array.isArray(value)

const get = (parent: Container, key: string): JsonValue | undefined =>
  Array.isArray(parent)
    ? parent[indexOf(key, parent.length)]
    : Object.hasOwn(parent, key)
      ? (parent as JsonObject)[key]
      : undefined

function added(parent: Container, key: string, value: JsonValue): Container {
  if (!Array.isArray(parent)) return withProperty(parent as JsonObject, key, value)
  const items: readonly JsonValue[] = parent
  return items.toSpliced(key === '-' ? items.length : indexOf(key, items.length + 1), 0, value)
}

/** As upstream: the property of an object need not be there to be replaced. */
function replaced(parent: Container, key: string, value: JsonValue): Container {
  if (!Array.isArray(parent)) return withProperty(parent as JsonObject, key, value)
  const items: readonly JsonValue[] = parent
  return items.with(indexOf(key, items.length), value)
}

function removed(parent: Container, key: string): Container {
  if (Array.isArray(parent)) return (parent as readonly JsonValue[]).toSpliced(indexOf(key, parent.length), 1)
  if (!Object.hasOwn(parent, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}`)
  const { [key]: _, ...rest } = parent as JsonObject
  return rest
}

/** A computed name defines a property, whatever it is: `__proto__` may stand in a patch too. */
const withProperty = (object: JsonObject, key: string, value: JsonValue): JsonObject => ({ ...object, [key]: value })

function read(target: JsonValue, path: string): JsonValue | undefined {
  const steps = stepsOf(path)
  let value: JsonValue | undefined = target
  for (const [depth, step] of steps.entries()) {
    if (!isContainer(value)) throw missing(path)
    value = get(value, step)
    if (value === undefined && depth < steps.length - 1) throw missing(path)
  }
  return value
}

function stepsOf(path: string): string[] {
  const [, ...steps] = path.split('/')
  if (steps.length === 0) throw missing(path) // the whole document is no part of anything
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Negative indices count from the end. */
function indexOf(key: string, length: number): number {
  const index = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN
  if (!(index >= -length && index < length)) throw new JsonPatchError(`Unable to access invalid index: ${key}`)
  return index < 0 ? index + length : index
}

const missing = (path: string): JsonPatchError =>
  new JsonPatchError(`the operation does not apply: the document is missing path: ${JSON.stringify(path)}`)
