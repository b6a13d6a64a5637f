// ServedGroups: the groups and versions of discovery, those of this server and of extensions, in the order of the priorities
// of their APIServices.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { addOnGroups } from '../../api/kinds.ts'
import type { APIService } from '../../api/apiregistration/v1/api-service.ts'
import { compareVersions } from '../../api/kind/version-priority.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { GroupVersion, KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { CacheObserver } from '../watch-cache/object-caches.ts'
import { groupPriorities, versionPriorities, versionPriorityDefault } from './local-api-services.ts'

export type VersionsByGroup = ReadonlyMap<string, readonly string[]>

export class ServedGroups implements CacheObserver {
  readonly #catalogue: KindCatalogue
  readonly #services = new Map<string, APIService>()
  #known: { readonly changes: number; readonly versions: VersionsByGroup } | undefined

  constructor(catalogue: KindCatalogue) {
    this.#catalogue = catalogue
  }

  changed(now: ApiObject | undefined, before: ApiObject | undefined): void {
    if (before !== undefined) this.#services.delete(before.metadata.name)
    if (now !== undefined) this.#services.set(now.metadata.name, now as APIService)
    this.#known = undefined
  }

  /** The names of all versions by group, both in the order of discovery. */
  get versions(): VersionsByGroup {
    const { changes, groupVersions } = this.#catalogue
    if (this.#known?.changes !== changes)
      this.#known = { changes, versions: orderedVersions(groupVersions, [...this.#services.values()]) }
    return this.#known.versions
  }
}

/** The group with the higher number comes first; it is that of its APIService with the highest one. */
const customGroupPriority = 1_000
const customVersionPriority = 100
/** Its APIs have no APIService: upstream serves them before all others. */
const registrationPriority = 20_001

/**
 * `local` is what this server serves. Add-ons are shown only if they have an APIService. Groups without APIServices, as in
 * a server that has not started yet, have the priorities that their APIServices will have.
 */
export function orderedVersions(local: readonly GroupVersion[], services: readonly APIService[]): VersionsByGroup {
  const priorities = new Map<string, Map<string, { readonly group: number; readonly version: number }>>()
  const add = (group: string, version: string, own: { readonly group: number; readonly version: number }) =>
    getOrInsert(priorities, group, () => new Map<string, typeof own>()).set(version, own)
  for (const { group, version } of local)
    if (!addOnGroups.includes(group)) add(group, version, localPriorities(group, version))
  for (const { spec } of services) {
    const { group = '', version = '', groupPriorityMinimum, versionPriority } = spec
    const isServed =
      spec.service !== undefined || local.some((each) => each.group === group && each.version === version)
    if (isServed) add(group, version, { group: groupPriorityMinimum, version: versionPriority })
  }
  const groups = [...priorities].map(([name, versions]) => ({
    name,
    priority: Math.max(...[...versions.values()].map(({ group }) => group)),
    versions: [...versions]
      .toSorted(([a, left], [b, right]) => right.version - left.version || compareVersions(a, b))
      .map(([version]) => version),
  }))
  groups.sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1))
  return new Map(groups.map(({ name, versions }) => [name, versions]))
}

function localPriorities(group: string, version: string) {
  if (group === 'apiregistration.k8s.io') return { group: registrationPriority, version: versionPriorityDefault }
  const known = lookup(groupPriorities, group)
  return known === undefined
    ? { group: customGroupPriority, version: customVersionPriority }
    : { group: known, version: lookup(versionPriorities, `${version}.${group}`) ?? versionPriorityDefault }
}
