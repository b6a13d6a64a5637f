// PackedChanges: changes as they are sent between threads. Many are packed into one buffer, because the structured
// clone of a small view copies the whole buffer behind it.
import type { LeaseId, LazyValue } from '../store.ts'
import { keyOf, type Version } from '../store-version.ts'

export interface Change {
  readonly revision: number
  /** Its index among the changes of its revision. */
  readonly ordinal: number
  readonly key: string
  /** undefined: the key was deleted. */
  readonly value: Uint8Array | undefined
  readonly createRevision: number
  /** 0 for a deletion. */
  readonly version: number
  readonly lease: LeaseId | undefined
  readonly atMs: number
}

/** A change that is not yet written. */
export interface PendingChange extends Omit<Change, 'value'> {
  readonly value: Uint8Array | LazyValue | undefined
}

export interface PackedChanges {
  readonly keys: string[]
  /** Six numbers per change: revision, ordinal, createRevision, version, lease (0: none), atMs. */
  readonly numbers: Float64Array
  /** The end of each value in `bytes`; -1 - end for a deletion. */
  readonly ends: Float64Array
  readonly bytes: Uint8Array
}

const numbersPerChange = 6

export function changesOf({ revision, atMs, events }: Version): PendingChange[] {
  return events.map((event, ordinal) => {
    const key = keyOf(event)
    const common = { revision, ordinal, key, atMs }
    switch (event.kind) {
      case 'put': {
        const { lazyValue, createRevision, version, lease } = event.item
        return { ...common, value: lazyValue ?? event.item.value, createRevision, version, lease }
      }
      case 'delete':
        return {
          ...common,
          value: undefined,
          createRevision: event.previous.createRevision,
          version: 0,
          lease: undefined,
        }
      default:
        return event satisfies never
    }
  })
}

export function pack(changes: readonly PendingChange[]): PackedChanges {
  const keys = changes.map(({ key }) => key)
  const numbers = new Float64Array(changes.length * numbersPerChange)
  const ends = new Float64Array(changes.length)
  let end = 0
  for (const [index, { revision, ordinal, value, createRevision, version, lease, atMs }] of changes.entries()) {
    numbers.set([revision, ordinal, createRevision, version, lease ?? 0, atMs], index * numbersPerChange)
    end += value === undefined ? 0 : writeValue(value, end)
    ends[index] = value === undefined ? -1 - end : end
  }
  const bytes = scratch.slice(0, end)
  if (scratch.length > scratchBytes) scratch = new Uint8Array(scratchBytes)
  return { keys, numbers, ends, bytes }
}

const scratchBytes = 1 << 20
/** Values are assembled here and copied together. It is used synchronously only. */
let scratch = new Uint8Array(scratchBytes)

const encoder = new TextEncoder()
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const characterBytesMax = 3

/** Writes a value to the scratch buffer; returns its size. */
function writeValue(value: Uint8Array | LazyValue, at: number): number {
  if (value instanceof Uint8Array) {
    reserve(at + value.length)
    scratch.set(value, at)
    return value.length
  }
  const { text } = value
  reserve(at + text.length * characterBytesMax)
  return encoder.encodeInto(text, scratch.subarray(at)).written
}

function reserve(size: number): void {
  if (scratch.length >= size) return
  const larger = new Uint8Array(size * 2)
  larger.set(scratch)
  scratch = larger
}

/** Values are views of the one buffer. */
export function* unpack({ keys, numbers, ends, bytes }: PackedChanges): Generator<Change> {
  let start = 0
  for (const [index, key] of keys.entries()) {
    const at = index * numbersPerChange
    const end = ends[index] ?? 0
    const value = end < 0 ? undefined : bytes.subarray(start, end)
    yield {
      revision: numbers[at] ?? 0,
      ordinal: numbers[at + 1] ?? 0,
      key,
      value,
      createRevision: numbers[at + 2] ?? 0,
      version: numbers[at + 3] ?? 0,
      lease: numbers[at + 4] || undefined,
      atMs: numbers[at + 5] ?? 0,
    }
    if (value !== undefined) start = end
  }
}
