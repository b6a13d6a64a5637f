// JSON patch (RFC 6902): a list of operations, applied in order. The target is never changed: a container is copied when
// an operation first changes it, and changed in place from then on, so the cost of a patch is linear in its size.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { deepCopy, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { jsonDepthMax } from '../json/json-depth.ts'
import { equalBounded, isDeeperThan, isContainer, type Container, type Visit } from '../json/json-walk.ts'

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

/**
 * What the operations of one patch may visit again and again: values that are compared or moved, and list items that make
 * room for others. It stands for about a tenth of a second; a patch of usual size takes a few thousand visits.
 */
export const jsonPatchVisitsMax = 2_000_000

/** Items of a list are moved by the block, so one of them costs a small part of a visit. */
const itemsMovedPerVisit = 64

export function jsonPatch(target: JsonValue, operations: readonly JsonPatchOperation[]): JsonValue {
  const document = new PatchedDocument(target)
  for (const operation of operations) {
    checkShape(operation)
    document.apply(operation)
  }
  return document.value
}

/** The operations come from a body and may be anything. */
function checkShape(operation: unknown): void {
  const { op, path, from = '' } = isJsonObject(operation) ? operation : {}
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw new JsonPatchError(`an operation needs op and path as text: ${JSON.stringify(operation)}`)
}

type OwnedContainer = JsonValue[] | Record<string, JsonValue | undefined>

class PatchedDocument {
  #value: JsonValue
  #copiedCharacters = 0
  #visitsLeft = jsonPatchVisitsMax
  /** The containers that this patch has made. No other document holds them, and each stands in one place. */
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
        const { parent, key, depth } = this.#parentOf(path)
        checkDepth(value, depth)
        // As upstream: the property of an object need not be there to be replaced.
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
    this.#copiedCharacters += JSON.stringify(original).length
    if (this.#copiedCharacters > jsonPatchCopiedCharactersMax)
      throw new JsonPatchError(
        `Unable to copy, the accumulated size increase of copy is ${this.#copiedCharacters}, exceeding the limit ${jsonPatchCopiedCharactersMax}`,
      )
    return deepCopy(original) as JsonValue
  }

  /** The container at the end of the path, to be changed in place. */
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
 * Operations can nest values deeper than a body may, and the functions that walk the result call themselves. A value from
 * the patch, or a copy, is bounded in size; one that is moved is not, so its visits count.
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
  if (steps.length === 0) throw missing(path) // the whole document is no part of anything
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
