// JSON patch (RFC 6902): a list of operations, applied in order. The target is not modified: a container is copied when an
// operation first changes it, and then changed in place, so the cost of a patch is linear in its size.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { deepCopy, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { jsonDepthMax } from '../json/json-depth.ts'
import { equalBounded, isDeeperThan, isContainer, type Container, type Visit } from '../json/json-walk.ts'
import { jsonText } from '../json/exact-json.ts'

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: JsonValue
}

const operationFields: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/** The paths of the fields that no operation has. The patch may have any form. */
export const unknownOperationFields = (patch: unknown): readonly string[] =>
  !Array.isArray(patch)
    ? []
    : patch.flatMap((operation: unknown, index) =>
        isJsonObject(operation)
          ? Object.keys(operation)
              .filter((name) => !operationFields.has(name))
              .map((name) => `[${index}].${name}`)
          : [],
      )

export class JsonPatchError extends Error {
  override name = 'JsonPatchError'
}

/** A longer patch is rejected, as upstream does. */
export const jsonPatchOperationsMax = 10_000

/** The maximum size that all copies of a patch may add to the document; upstream's bound. */
export const jsonPatchCopiedCharactersMax = 3 << 20

/**
 * The maximum number of values that the operations of one patch may visit repeatedly: values that are compared or moved, and
 * list items that are shifted. It takes about a tenth of a second; a usual patch visits a few thousand.
 */
export const jsonPatchVisitsMax = 2_000_000

/** List items are shifted in blocks, so one item costs a fraction of a visit. */
const itemsMovedPerVisit = 64

export function jsonPatch(target: JsonValue, operations: readonly JsonPatchOperation[]): JsonValue {
  const document = new PatchedDocument(target)
  for (const operation of operations) {
    checkShape(operation)
    document.apply(operation)
  }
  return document.value
}

/** The operations come from a body and may have any form. */
function checkShape(operation: unknown): void {
  const { op, path, from = '' } = isJsonObject(operation) ? operation : {}
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw new JsonPatchError(`an operation needs op and path as text: ${jsonText(operation)}`)
}

type OwnedContainer = JsonValue[] | Record<string, JsonValue | undefined>

class PatchedDocument {
  #value: JsonValue
  #copiedCharacters = 0
  #visitsLeft = jsonPatchVisitsMax
  /** The containers that this patch created. They are not shared with other documents, and each has one parent. */
  readonly #owned = new Set<Container>()

  constructor(target: JsonValue) {
    this.#value = target
  }

  get value(): JsonValue {
    return this.#value
  }

  apply({ op, path, from = '', value = null }: JsonPatchOperation): void {
    switch (op) {
      case 'add':
        return this.#add(path, value)
      case 'remove':
        return this.#remove(path)
      case 'replace': {
        if (path === '') return this.#replaceAll(value)
        const { parent, key, depth } = this.#parentOf(path)
        checkDepth(value, depth)
        // Like upstream: a property need not exist to be replaced.
        return setChild(parent, key, value)
      }
      case 'move': {
        const moved = this.#read(from) ?? null
        this.#remove(from)
        return this.#add(path, moved, this.#visit)
      }
      case 'copy':
        return this.#add(path, this.#copyOf(from))
      case 'test':
        if (!equalBounded(this.#read(path) ?? null, value, this.#visit))
          throw new JsonPatchError(`testing value ${path} failed`)
        return
      default:
        op satisfies never
        throw new JsonPatchError(`Unexpected kind: ${String(op)}`)
    }
  }

  readonly #visit = (count: number): void => {
    this.#visitsLeft -= count
    if (this.#visitsLeft < 0) throw new JsonPatchError(`the patch visits more than ${jsonPatchVisitsMax} values`)
  }

  #replaceAll(value: JsonValue): void {
    if (!isContainer(value)) throw new JsonPatchError('the whole document can only be replaced by an object or a list')
    this.#value = value
  }

  #add(path: string, value: JsonValue, visit?: Visit): void {
    const { parent, key, depth } = this.#parentOf(path)
    checkDepth(value, depth, visit)
    if (!Array.isArray(parent)) return setChild(parent, key, value)
    const index = key === '-' ? parent.length : indexOf(key, parent.length + 1)
    this.#visit((parent.length - index) / itemsMovedPerVisit)
    parent.splice(index, 0, value)
  }

  #remove(path: string): void {
    const { parent, key } = this.#parentOf(path)
    if (Array.isArray(parent)) {
      const index = indexOf(key, parent.length)
      this.#visit((parent.length - index) / itemsMovedPerVisit)
      parent.splice(index, 1)
    } else {
      if (!Object.hasOwn(parent, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}`)
      delete parent[key]
    }
  }

  #copyOf(from: string): JsonValue {
    const original = this.#read(from) ?? null
    this.#copiedCharacters += jsonText(original).length
    if (this.#copiedCharacters > jsonPatchCopiedCharactersMax)
      throw new JsonPatchError(
        `Unable to copy, the accumulated size increase of copy is ${this.#copiedCharacters}, exceeding the limit ${jsonPatchCopiedCharactersMax}`,
      )
    return deepCopy(original) as JsonValue
  }

  /** The container at the end of the path, which may be changed in place. */
  #parentOf(path: string): { parent: OwnedContainer; key: string; depth: number } {
    const steps = stepsOf(path)
    const key = steps.pop() ?? ''
    if (!isContainer(this.#value)) throw missing(path)
    let parent = this.#own(this.#value)
    this.#value = parent
    for (const step of steps) {
      const child = childOf(parent, step)
      if (!isContainer(child)) throw missing(path)
      const owned = this.#own(child)
      if (owned !== child) setChild(parent, step, owned)
      parent = owned
    }
    return { parent, key, depth: steps.length + 1 }
  }

  #own(container: Container): OwnedContainer {
    if (this.#owned.has(container)) return container as OwnedContainer
    const own = Array.isArray(container) ? [...(container as readonly JsonValue[])] : { ...(container as JsonObject) }
    this.#owned.add(own)
    return own
  }

  #read(path: string): JsonValue | undefined {
    const steps = stepsOf(path)
    let value: JsonValue | undefined = this.#value
    for (const [depth, step] of steps.entries()) {
      if (!isContainer(value)) throw missing(path)
      value = childOf(value, step)
      if (value === undefined && depth < steps.length - 1) throw missing(path)
    }
    return value
  }
}

/**
 * Operations can nest values deeper than a body may, and functions that visit the result are recursive. A value from the
 * patch, or a copy, is bounded in size; a moved value is not, so its visits are counted.
 */
function checkDepth(value: JsonValue, depth: number, visit: Visit = () => {}): void {
  if (isDeeperThan(value, jsonDepthMax - depth, visit)) throw new JsonPatchError('exceeded max depth')
}

const childOf = (parent: Container, key: string): JsonValue | undefined =>
  Array.isArray(parent)
    ? (parent as readonly JsonValue[])[indexOf(key, parent.length)]
    : lookup(parent as JsonObject, key)

function setChild(parent: OwnedContainer, key: string, value: JsonValue): void {
  if (Array.isArray(parent)) parent[indexOf(key, parent.length)] = value
  else setOwn(parent, key, value)
}

function stepsOf(path: string): string[] {
  const [, ...steps] = path.split('/')
  if (steps.length === 0) throw missing(path) // the whole document has no parent
  return path.includes('~') ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : steps
}

/** Negative indices count from the end. */
function indexOf(key: string, length: number): number {
  const index = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN
  if (!(index >= -length && index < length)) throw new JsonPatchError(`Unable to access invalid index: ${key}`)
  return index < 0 ? index + length : index
}

const missing = (path: string): JsonPatchError =>
  new JsonPatchError(`the operation does not apply: the document is missing path: ${JSON.stringify(path)}`)
