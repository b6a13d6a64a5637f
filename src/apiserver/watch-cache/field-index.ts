// FieldIndex: the objects of a kind by the values of selected fields, so that a list of one node's pods does not visit
// all pods. A field is indexed from its first use.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { StoredObject } from '../storage/stored-object.ts'

type Group = Map<string, StoredObject>

export class FieldIndex {
  readonly #kind: Kind
  /** By field, then by value. The fields are bounded by those that the kind supports. */
  readonly #fields = new Map<string, Map<string, Group>>()

  constructor(kind: Kind) {
    this.#kind = kind
  }

  /** Drops all indexes; each is built again when it is used. */
  clear(): void {
    this.#fields.clear()
  }

  changed(key: string, now: StoredObject | undefined, before: StoredObject | undefined): void {
    for (const [field, groups] of this.#fields) {
      const value = this.#valueOf(field, now)
      const valueBefore = this.#valueOf(field, before)
      if (valueBefore !== undefined && valueBefore !== value) leave(groups, valueBefore, key)
      if (value !== undefined && now !== undefined) getOrInsert(groups, value, newGroup).set(key, now)
    }
  }

  /** The objects with this value, by key, unordered. `all` is read where the field is not indexed yet. */
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
