// JSON patch (RFC 6902): a list of operations, applied in order to a value that is never changed itself.
import { equalValues, isJsonObject, type JsonValue } from './json-value.ts'

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

export function jsonPatch(target: JsonValue, operations: readonly JsonPatchOperation[]): JsonValue {
  if (operations.length > jsonPatchOperationsMax)
    throw new JsonPatchError(
      `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${operations.length}`,
    )
  for (const operation of operations) checkShape(operation)
  return operations.reduce(applyOperation, target)
}

/** The operations come from a body and may be anything. */
function checkShape(operation: unknown): void {
  const { op, path, from = '' } = isJsonObject(operation) ? operation : {}
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw new JsonPatchError(`an operation needs op and path as text: ${JSON.stringify(operation)}`)
}

function applyOperation(target: JsonValue, operation: JsonPatchOperation): JsonValue {
  const { op, path, value = null } = operation
  switch (op) {
    case 'add':
      return change(target, pointer(path), (parent, key) => put(parent, key, value, path))
    case 'remove':
      return change(target, pointer(path), (parent, key) => take(parent, key, path))
    case 'replace':
      read(target, path)
      return change(target, pointer(path), (parent, key) => put(take(parent, key, path), key, value, path))
    case 'move': {
      const moved = read(target, operation.from ?? '')
      const without = change(target, pointer(operation.from ?? ''), (parent, key) => take(parent, key, path))
      return change(without, pointer(path), (parent, key) => put(parent, key, moved, path))
    }
    case 'copy':
      return change(target, pointer(path), (parent, key) => put(parent, key, read(target, operation.from ?? ''), path))
    case 'test':
      if (!equalValues(read(target, path), value)) throw new JsonPatchError(`testing value ${path} failed: test failed`)
      return target
    default:
      op satisfies never
      throw new JsonPatchError(`Unexpected kind: ${String(op)}`)
  }
}

type Container = readonly JsonValue[] | { readonly [name: string]: JsonValue | undefined }

function change(
  target: JsonValue,
  path: readonly string[],
  apply: (parent: Container, key: string) => Container,
): JsonValue {
  const [key, ...rest] = path
  if (key === undefined) throw new JsonPatchError('the whole document cannot be replaced')
  if (!isJsonObject(target) && !Array.isArray(target)) throw missing(path.join('/'))
  if (rest.length === 0) return apply(target as Container, key)
  const child = (target as Record<string, JsonValue | undefined>)[key]
  if (child === undefined) throw missing(path.join('/'))
  const changed = change(child, rest, apply)
  return isJsonObject(target) ? { ...target, [key]: changed } : (target as JsonValue[]).with(Number(key), changed)
}

function put(parent: Container, key: string, value: JsonValue, path: string): Container {
  if (isJsonObject(parent)) return { ...parent, [key]: value }
  const items: readonly JsonValue[] = parent
  return items.toSpliced(key === '-' ? items.length : indexOf(key, items.length, path), 0, value)
}

function take(parent: Container, key: string, path: string): Container {
  if (Array.isArray(parent)) return parent.toSpliced(indexOf(key, parent.length - 1, path), 1) as JsonValue[]
  const { [key]: taken, ...rest } = parent as Record<string, JsonValue>
  if (taken === undefined) throw missing(path)
  return rest
}

function read(target: JsonValue, path: string): JsonValue {
  let value: JsonValue | undefined = target
  for (const key of pointer(path)) {
    value =
      isJsonObject(value) || Array.isArray(value) ? (value as Record<string, JsonValue | undefined>)[key] : undefined
    if (value === undefined) throw missing(path)
  }
  return value
}

const pointer = (path: string): string[] => {
  if (path === '') return []
  if (!path.startsWith('/')) throw missing(path)
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function indexOf(key: string, max: number, path: string): number {
  const index = Number(key)
  if (!/^\d+$/.test(key) || index > max) throw new JsonPatchError(`Unable to access invalid index: ${key}: ${path}`)
  return index
}

const missing = (path: string): JsonPatchError => new JsonPatchError(`the path ${JSON.stringify(path)} does not exist`)
