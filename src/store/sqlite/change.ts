// Change: one key at one revision, as a row on disk and as it travels between threads. Many are packed into one
// buffer, because a structured clone of a small view copies the whole buffer behind it.
import type { LeaseId } from '../store.ts'
import { keyOf, type Version } from '../version.ts'

export interface Change {
  readonly revision: number
  /** Its place among the changes of its revision. */
  readonly ordinal: number
  readonly key: string
  /** undefined: the key was deleted. */
  readonly value: Uint8Array | undefined
  readonly createRevision: number
  readonly lease: LeaseId | undefined
  readonly atMs: number
}

export interface PackedChanges {
  readonly keys: string[]
  /** Five numbers for each change: revision, ordinal, createRevision, lease (0: none), atMs. */
  readonly numbers: Float64Array
  /** Where each value ends in `bytes`; -1 - end for a deletion. */
  readonly ends: Float64Array
  readonly bytes: Uint8Array
}

const numbersPerChange = 5

export function changesOf({ revision, atMs, events, leased }: Version): Change[] {
  return events.map((event, ordinal) => {
    const key = keyOf(event)
    const common = { revision, ordinal, key, lease: leased.leaseOf(key), atMs }
    switch (event.kind) {
      case 'put':
        return { ...common, value: event.item.value, createRevision: event.item.createRevision }
      case 'delete':
        return { ...common, value: undefined, createRevision: event.previous.createRevision }
      default:
        return event satisfies never
    }
  })
}

export function pack(changes: readonly Change[]): PackedChanges {
  const size = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
  const packed = {
    keys: changes.map(({ key }) => key),
    numbers: new Float64Array(changes.length * numbersPerChange),
    ends: new Float64Array(changes.length),
    bytes: new Uint8Array(size),
  }
  let end = 0
  for (const [index, { revision, ordinal, value, createRevision, lease, atMs }] of changes.entries()) {
    packed.numbers.set([revision, ordinal, createRevision, lease ?? 0, atMs], index * numbersPerChange)
    if (value !== undefined) packed.bytes.set(value, end)
    end += value?.length ?? 0
    packed.ends[index] = value === undefined ? -1 - end : end
  }
  return packed
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
      lease: numbers[at + 3] || undefined,
      atMs: numbers[at + 4] ?? 0,
    }
    if (value !== undefined) start = end
  }
}
