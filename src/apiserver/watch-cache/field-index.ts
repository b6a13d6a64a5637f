// FieldIndex: the objects of a kind by the values of those fields that somebody selects by, so that a node that asks for
// its pods costs as much as it has, not as much as there are. A field is followed from the first time it is asked for.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { StoredObject } from '../storage/stored-object.ts'

type Group = Map<string, StoredObject>

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

  changed(key: string, now: StoredObject | undefined, before: StoredObject | undefined): void {
    for (const [field, groups] of this.#fields) {
      const [value, valueBefore] = [this.#valueOf(field, now), this.#valueOf(field, before)]
      if (valueBefore !== undefined && valueBefore !== value) leave(groups, valueBefore, key)
      if (value !== undefined && now !== undefined) getOrInsert(groups, value, newGroup).set(key, now)
    }
  }

  /** Those with this value, by key, in no order; `all` is read where the field was not asked for before. */
  select(
    field: string,
    value: string,
    all: Iterable<[key: string, stored: StoredObject]>,
  ): ReadonlyMap<string, StoredObject> {
    return getOrInsert(this.#fields, field, () => this.#build(field, all)).get(value) ?? noObjects
  }

  #build(field: string, all: Iterable<[key: string, stored: StoredObject]>): Map<string, Group> {
    const groups = new Map<string, Group>()
    for (const [key, stored] of all) getOrInsert(groups, this.#valueOf(field, stored) ?? '', newGroup).set(key, stored)
    return groups
  }

  #valueOf(field: string, stored: StoredObject | undefined): string | undefined {
    return stored === undefined ? undefined : (lookup(this.#kind.fieldLabels, field)?.(stored.object) ?? '')
  }
}

const noObjects: Group = new Map()
const newGroup = (): Group => new Map()

function leave(groups: Map<string, Group>, value: string, key: string): void {
  const group = groups.get(value)
  group?.delete(key)
  if (group?.size === 0) groups.delete(value)
}
