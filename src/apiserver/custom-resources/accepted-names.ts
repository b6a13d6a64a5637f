// AcceptedNames: the names that definitions have been given, by group. Within a group, each name belongs to one definition.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { NamesInUse } from './definition-conditions.ts'

/** The definitions that have a name: usually one. */
type Owners = Map<string, Set<string>>

interface GroupNames {
  readonly resources: Owners
  readonly kinds: Owners
}

interface NamesOfDefinition {
  readonly resources: readonly string[]
  readonly kinds: readonly string[]
}

export class AcceptedNames {
  readonly #groups = new Map<string, GroupNames>()

  /** The names that other definitions of the same group have. */
  usedByOthers({ metadata, spec }: CustomResourceDefinition): NamesInUse {
    const group = this.#groups.get(spec.group)
    const isTaken = (owners: Owners | undefined, name: string): boolean => {
      const of = owners?.get(name)
      return of !== undefined && (of.size > 1 || !of.has(metadata.name))
    }
    return {
      hasResource: (name) => isTaken(group?.resources, name),
      hasKind: (name) => isTaken(group?.kinds, name),
    }
  }

  add(definition: CustomResourceDefinition): void {
    const group = getOrInsert(this.#groups, definition.spec.group, newGroup)
    const { resources, kinds } = namesOf(definition)
    const { name: owner } = definition.metadata
    for (const name of resources) getOrInsert(group.resources, name, newSet).add(owner)
    for (const name of kinds) getOrInsert(group.kinds, name, newSet).add(owner)
  }

  delete(definition: CustomResourceDefinition): void {
    const group = this.#groups.get(definition.spec.group)
    if (group === undefined) return
    const { resources, kinds } = namesOf(definition)
    for (const name of resources) remove(group.resources, name, definition.metadata.name)
    for (const name of kinds) remove(group.kinds, name, definition.metadata.name)
    if (group.kinds.size === 0 && group.resources.size === 0) this.#groups.delete(definition.spec.group)
  }
}

const newGroup = (): GroupNames => ({ resources: new Map(), kinds: new Map() })
const newSet = (): Set<string> => new Set()

function remove(owners: Owners, name: string, owner: string): void {
  const of = owners.get(name)
  of?.delete(owner)
  if (of?.size === 0) owners.delete(name)
}

function namesOf({ status: { acceptedNames: names } }: CustomResourceDefinition): NamesOfDefinition {
  const given = (...texts: readonly (string | undefined)[]) => texts.filter((text) => text !== undefined && text !== '')
  return {
    resources: given(names?.plural, names?.singular, ...(names?.shortNames ?? [])) as string[],
    kinds: given(names?.kind, names?.listKind) as string[],
  }
}
