// Entries: the fields of a message in the order in which they are written.
import type { Field, Message } from '../descriptor/field.ts'

/** A field, or the embedded message that several fields stand in. */
export type Entry =
  | { readonly tag: number; readonly name: string; readonly field: Field }
  | { readonly tag: number; readonly embedded: Entry[] }

/** The field with the highest number first, since everything is written from the end. */
export function entriesOf(message: Message): readonly Entry[] {
  const root: Entry[] = []
  for (const [name, field] of Object.entries(message.fields))
    [field.embeddedAt ?? []].flat().reduce(embeddedIn, root).push({ tag: field.tag, name, field })
  return reversed(root)
}

function embeddedIn(entries: Entry[], tag: number): Entry[] {
  const known = entries.find((entry) => entry.tag === tag && 'embedded' in entry)
  if (known !== undefined && 'embedded' in known) return known.embedded
  const embedded: Entry[] = []
  entries.push({ tag, embedded })
  return embedded
}

const reversed = (entries: readonly Entry[]): readonly Entry[] =>
  entries
    .map((entry) => ('embedded' in entry ? { ...entry, embedded: [...reversed(entry.embedded)] } : entry))
    .toSorted((a, b) => b.tag - a.tag)

/** Pointers, bytes, raw JSON, lists and maps can be nil in Go; everything else has a zero value that is written. */
export const isAbsentWhenUnset = ({ type, pointer }: Field): boolean =>
  pointer === true ||
  type === 'bytes' ||
  type === 'fieldsV1' ||
  type === 'rawExtension' ||
  type === 'json' ||
  (typeof type === 'object' && type.kind !== 'message')

/** Orders the keys of a map from last to first. */
export const lastFirst = (a: string, b: string): number => (a < b ? 1 : -1)

/** Stands for a struct that is not set. */
export const emptyStruct = Object.freeze({})

export const mapInside = () => new Error('a map cannot be an element of a list or a map')
