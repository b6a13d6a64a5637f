// The content of a table as data: elements of maps and sets, and chains and sets that come and go. The difference between
// two contents becomes the commands of one transaction.
import { commandText, joinCommandText, type CommandText } from '../../base/net/command-text.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'

/** A chain or a set. */
export interface TableObject {
  readonly kind: 'chain' | 'set'
  /** The rules of a chain, or the definition of a set. */
  readonly lines: readonly CommandText[]
}

/** By set: keys with their values, which are empty in sets. */
export type Elements = Map<CommandText, Map<CommandText, CommandText | ''>>

export interface TableContent {
  readonly elements: Elements
  /** Chains and sets, by name. */
  readonly objects: Map<CommandText, TableObject>
}

export interface ContentDiff {
  readonly removed: Elements
  readonly added: Elements
  readonly objects: Map<
    CommandText,
    { readonly before: TableObject | undefined; readonly now: TableObject | undefined }
  >
}

export const noDiff = (): ContentDiff => ({ removed: new Map(), added: new Map(), objects: new Map() })

/** Adds the difference between two contents. An element whose value changed is removed and added. */
export function* contentDiff(before: TableContent, now: TableContent, diff: ContentDiff, slice: Slice): Sliced<void> {
  yield* missing(before.elements, now.elements, diff.removed, slice)
  yield* missing(now.elements, before.elements, diff.added, slice)
  for (const name of new Set([...before.objects.keys(), ...now.objects.keys()])) {
    const was = before.objects.get(name)
    const is = now.objects.get(name)
    if (was?.lines.join('\n') !== is?.lines.join('\n')) diff.objects.set(name, { before: was, now: is })
    if (slice.isUsedUp()) yield
  }
}

/** Adds to `into` what `from` has and `other` has not. */
function* missing(from: Elements, other: Elements, into: Elements, slice: Slice): Sliced<void> {
  for (const [set, elements] of from) {
    const known = other.get(set)
    for (const [key, value] of elements) {
      if (known?.get(key) !== value)
        getOrInsert(into, set, () => new Map<CommandText, CommandText | ''>()).set(key, value)
      if (slice.isUsedUp()) yield
    }
  }
}

/** A line of nft has a limited number of elements. */
const elementsPerCommandMax = 1_000

/** References are removed before what they refer to, and added after it. `table` is its family and name. */
export function* diffCommands(table: CommandText, diff: ContentDiff): Generator<CommandText> {
  yield* elementCommands(table, 'delete', diff.removed, (key) => key)
  yield* removedObjects(table, diff)
  yield* addedObjects(table, diff)
  yield* elementCommands(table, 'add', diff.added, elementText)
}

/** The commands that add several contents to an empty table. No two of them have an element or an object in common. */
export function* contentCommands(table: CommandText, contents: readonly TableContent[]): Generator<CommandText> {
  const objects: ContentDiff['objects'] = new Map()
  const texts = new Map<CommandText, CommandText[]>()
  for (const content of contents) {
    for (const [name, now] of content.objects) objects.set(name, { before: undefined, now })
    for (const [set, elements] of content.elements) {
      const ofSet = getOrInsert(texts, set, () => [])
      for (const [key, value] of elements) ofSet.push(elementText(key, value))
    }
  }
  yield* addedObjects(table, { objects })
  for (const [set, ofSet] of texts) yield* setCommands(table, 'add', set, ofSet)
}

const elementText = (key: CommandText, value: CommandText | ''): CommandText =>
  value === '' ? key : commandText`${key} : ${value}`

function* elementCommands(
  table: CommandText,
  verb: 'add' | 'delete',
  elements: Elements,
  text: (key: CommandText, value: CommandText | '') => CommandText,
): Generator<CommandText> {
  for (const [set, ofSet] of elements)
    yield* setCommands(
      table,
      verb,
      set,
      Array.from(ofSet, ([key, value]) => text(key, value)),
    )
}

/** At most 1,000 elements in each command. */
export function* setCommands(
  table: CommandText,
  verb: 'add' | 'delete',
  set: CommandText,
  elements: readonly CommandText[],
): Generator<CommandText> {
  for (let at = 0; at < elements.length; at += elementsPerCommandMax)
    yield commandText`${verb} element ${table} ${set} { ${joinCommandText(elements.slice(at, at + elementsPerCommandMax), ', ')} }`
}

function* removedObjects(table: CommandText, { objects }: ContentDiff): Generator<CommandText> {
  const gone = [...objects].filter(([, { now }]) => now === undefined)
  // Chains refer to one another and to sets.
  for (const [name, { before }] of objects)
    if (before?.kind === 'chain') yield commandText`flush chain ${table} ${name}`
  for (const kind of ['chain', 'set'] as const)
    for (const [name, { before }] of gone) if (before?.kind === kind) yield commandText`delete ${kind} ${table} ${name}`
}

function* addedObjects(table: CommandText, { objects }: Pick<ContentDiff, 'objects'>): Generator<CommandText> {
  for (const [name, { before, now }] of objects) {
    if (now === undefined || before !== undefined) continue
    if (now.kind === 'set') yield commandText`add set ${table} ${name} { ${joinCommandText(now.lines, ' ')} }`
    else yield commandText`add chain ${table} ${name}`
  }
  for (const [name, { now }] of objects)
    if (now?.kind === 'chain') for (const line of now.lines) yield commandText`add rule ${table} ${name} ${line}`
}
