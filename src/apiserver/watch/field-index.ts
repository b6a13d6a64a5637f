// FieldIndex: the objects of a kind by the values of those fields that somebody selects by, so that a node that asks for
// its pods costs as much as it has, not as much as there are. A field is followed from the first time it is asked for.
import { lookup } from '../../base/lookup.ts'
import { getOrMake } from '../../base/get-or-make.ts'
import type { Kind } from '../../api/kind.ts'
import type { Stored } from '../stored.ts'

type Group = Map<string, Stored>

export class FieldIndex {
  readonly #kind: Kind
  /** By field, then by value. There are no more fields than the kind has labels for. */
  readonly #fields = new Map<string, Map<string, Group>>()

  constructor(kind: Kind) {
    this.#kind = kind
  }

  /** Forgets all fields: each is read anew when it is asked for. */
  clear(): void {
    this.#fields.clear()
  }

  changed(key: string, now: Stored | undefined, before: Stored | undefined): void {
    for (const [field, groups] of this.#fields) {
      const [value, valueBefore] = [this.#valueOf(field, now), this.#valueOf(field, before)]
      if (valueBefore !== undefined && valueBefore !== value) leave(groups, valueBefore, key)
      if (value !== undefined && now !== undefined) getOrMake(groups, value, newGroup).set(key, now)
    }
  }

  /** Those with this value, by key, in no order; `all` is read where the field was not asked for before. */
  select(field: string, value: string, all: Iterable<[key: string, stored: Stored]>): ReadonlyMap<string, Stored> {
    return getOrMake(this.#fields, field, () => this.#read(field, all)).get(value) ?? nobody
  }

  #read(field: string, all: Iterable<[key: string, stored: Stored]>): Map<string, Group> {
    const groups = new Map<string, Group>()
    for (const [key, stored] of all) getOrMake(groups, this.#valueOf(field, stored) ?? '', newGroup).set(key, stored)
    return groups
  }

  #valueOf(field: string, stored: Stored | undefined): string | undefined {
    return stored === undefined ? undefined : (lookup(this.#kind.fieldLabels, field)?.(stored.object) ?? '')
  }
}

const nobody: Group = new Map()
const newGroup = (): Group => new Map()

function leave(groups: Map<string, Group>, value: string, key: string): void {
  const group = groups.get(value)
  group?.delete(key)
  if (group?.size === 0) groups.delete(value)
}
