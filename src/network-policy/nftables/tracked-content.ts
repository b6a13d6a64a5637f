// TrackedContent: the desired content of the table, and what of it changed since the kernel had it last.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { CommandText } from '../../base/net/command-text.ts'
import { noDiff, type ContentDiff, type TableContent, type TableObject } from '../../machine/nftables/table-content.ts'

export class TrackedContent {
  readonly #current: TableContent = { elements: new Map(), objects: new Map() }
  /** The values before the first change, by set and key. */
  readonly #elementsBefore = new Map<CommandText, Map<CommandText, CommandText | '' | undefined>>()
  readonly #objectsBefore = new Map<CommandText, TableObject | undefined>()
  /** The number of changes so far. */
  changes = 0

  get current(): TableContent {
    return this.#current
  }

  /** Undefined removes the element. */
  setElement(set: CommandText, key: CommandText, value: CommandText | '' | undefined): void {
    const elements = getOrInsert(this.#current.elements, set, () => new Map<CommandText, CommandText | ''>())
    const before = elements.get(key)
    if (before === value) return
    this.changes++
    const known = getOrInsert(this.#elementsBefore, set, () => new Map<CommandText, CommandText | '' | undefined>())
    if (!known.has(key)) known.set(key, before)
    if (value === undefined) elements.delete(key)
    else elements.set(key, value)
    if (elements.size === 0) this.#current.elements.delete(set)
  }

  /** Undefined removes the chain or set. */
  setObject(name: CommandText, object: TableObject | undefined): void {
    const { objects } = this.#current
    const before = objects.get(name)
    if (before?.lines.join('\n') === object?.lines.join('\n')) return
    this.changes++
    if (!this.#objectsBefore.has(name)) this.#objectsBefore.set(name, before)
    if (object === undefined) objects.delete(name)
    else objects.set(name, object)
  }

  /** The difference since the last call. */
  take(): ContentDiff {
    const diff = noDiff()
    const note = (
      into: ContentDiff['added'],
      set: CommandText,
      key: CommandText,
      value: CommandText | '' | undefined,
    ) => {
      if (value !== undefined) getOrInsert(into, set, () => new Map<CommandText, CommandText | ''>()).set(key, value)
    }
    for (const [set, changed] of this.#elementsBefore)
      for (const [key, before] of changed) {
        const now = this.#current.elements.get(set)?.get(key)
        if (now === before) continue
        note(diff.removed, set, key, before)
        note(diff.added, set, key, now)
      }
    for (const [name, before] of this.#objectsBefore) {
      const now = this.#current.objects.get(name)
      if (before?.lines.join('\n') !== now?.lines.join('\n')) diff.objects.set(name, { before, now })
    }
    this.#elementsBefore.clear()
    this.#objectsBefore.clear()
    return diff
  }
}
