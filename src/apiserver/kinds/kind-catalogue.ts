// KindCatalogue: the kinds that the API serves, built-in and custom. Custom resources are added, replaced and removed while
// requests and watches are running; what depends on the kinds observes the catalogue.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { addOnGroups, groupVersions as builtInGroupVersions, kinds as builtInKinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { compareVersions } from '../../api/kind/version-priority.ts'
import type { CustomResource } from './custom-resource.ts'

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface CatalogueObserver {
  /**
   * `removed` and `added` are the same resource before and after a change; one of them may be missing. They are identical when
   * the deletion of the definition has begun.
   */
  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void
}

/** What is derived from all kinds, until the next change. */
interface Derived {
  readonly kinds: readonly Kind[]
  readonly groupVersions: readonly GroupVersion[]
}

export class KindCatalogue {
  /** By API version, then by plural name. */
  readonly #byPath = new Map<string, Map<string, Kind>>()
  readonly #custom = new Map<string, CustomResource>()
  /** Names of custom resources whose definitions are being deleted. */
  readonly #terminating = new Set<string>()
  readonly #observers: CatalogueObserver[] = []
  readonly #builtIn: Derived
  readonly gated: readonly Kind[]
  #derived: Derived | undefined
  #changes = 0

  /** The gated kinds are those that this server serves besides the built-in ones. */
  constructor(gated: readonly Kind[] = []) {
    this.#builtIn = { kinds: [...builtInKinds, ...gated], groupVersions: withGated(gated) }
    this.gated = gated
    for (const kind of this.#builtIn.kinds) this.#add(kind)
  }

  /** The kind that a path names. */
  atPath(apiVersion: string, plural: string): Kind | undefined {
    return this.#byPath.get(apiVersion)?.get(plural)
  }

  /** Whether the server itself defines the group. */
  isBuiltInGroup(group: string): boolean {
    return this.#builtIn.groupVersions.some((each) => each.group === group)
  }

  /** The kind that an object or a reference names. */
  named(apiVersion: string, kindName: string): Kind | undefined {
    for (const kind of this.#byPath.get(apiVersion)?.values() ?? []) if (kind.kind === kindName) return kind
    return undefined
  }

  /** All versions of all kinds, in the order of discovery. */
  get kinds(): readonly Kind[] {
    return this.#derive().kinds
  }

  /** Groups and versions in the order of discovery. */
  get groupVersions(): readonly GroupVersion[] {
    return this.#derive().groupVersions
  }

  /** The served kinds of a group and version. */
  inGroupVersion({ group, version }: GroupVersion): readonly Kind[] {
    return [...(this.#byPath.get(group === '' ? version : `${group}/${version}`)?.values() ?? [])]
  }

  /** All served versions of a kind, including itself. */
  versionsOf(kind: Kind): readonly Kind[] {
    const custom = kind.custom && this.#custom.get(`${kind.plural}.${kind.group}`)
    if (custom !== undefined) return custom.versions.map((version) => version.kind)
    const stored = kind.storedAs?.kind ?? kind
    return this.#builtIn.kinds.filter((each) => each === stored || each.storedAs?.kind === stored)
  }

  /** The custom resource with this name, `crontabs.stable.example.com`. */
  customResource(name: string): CustomResource | undefined {
    return this.#custom.get(name)
  }

  /** Increases with every change, for caches of what is derived from the kinds. */
  get changes(): number {
    return this.#changes
  }

  observe(observer: CatalogueObserver): void {
    this.#observers.push(observer)
    for (const resource of this.#custom.values()) observer.changed(undefined, resource)
  }

  /**
   * Adds a custom resource, or replaces the one with the same name. As upstream, a definition adds nothing to a group
   * version that the server itself defines: it would shadow a built-in resource, and remove it when it is deleted.
   */
  set(resource: CustomResource): void {
    const versions = resource.versions.filter(({ kind }) => !isIn(this.#builtIn.groupVersions, kind))
    this.#replace(this.#custom.get(resource.name), { ...resource, versions })
  }

  delete(name: string): void {
    const removed = this.#custom.get(name)
    if (removed !== undefined) this.#replace(removed, undefined)
  }

  /** The definition is being deleted: no objects can be created; those that exist are served until they are deleted. */
  terminate(name: string): void {
    const resource = this.#custom.get(name)
    if (resource === undefined || this.#terminating.has(name)) return
    this.#terminating.add(name)
    this.#notify(resource, resource)
  }

  /** Whether the definition of the kind is being deleted. */
  isTerminating({ custom, group, plural }: Kind): boolean {
    return custom !== undefined && this.#terminating.has(`${plural}.${group}`)
  }

  #replace(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    for (const { kind } of removed?.versions ?? []) this.#remove(kind)
    if (removed !== undefined) {
      this.#custom.delete(removed.name)
      this.#terminating.delete(removed.name)
    }
    for (const { kind } of added?.versions ?? []) this.#add(kind)
    if (added !== undefined) this.#custom.set(added.name, added)
    this.#derived = undefined
    this.#notify(removed, added)
  }

  #notify(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    this.#changes++
    for (const observer of this.#observers) observer.changed(removed, added)
  }

  #add(kind: Kind): void {
    getOrInsert(this.#byPath, kind.apiVersion, () => new Map<string, Kind>()).set(kind.plural, kind)
  }

  #remove(kind: Kind): void {
    const kinds = this.#byPath.get(kind.apiVersion)
    kinds?.delete(kind.plural)
    if (kinds?.size === 0) this.#byPath.delete(kind.apiVersion)
  }

  #derive(): Derived {
    return (this.#derived ??= {
      kinds: [
        ...this.#builtIn.kinds,
        ...[...this.#custom.values()].flatMap(({ versions }) => versions.map(({ kind }) => kind)),
      ],
      groupVersions: withCustomGroups(this.#builtIn.groupVersions, [...this.#custom.values()]),
    })
  }
}

const isIn = (groupVersions: readonly GroupVersion[], { group, version }: GroupVersion): boolean =>
  groupVersions.some((each) => each.group === group && each.version === version)

/** The versions of gated kinds come after the other versions of their group. */
function withGated(gated: readonly Kind[]): readonly GroupVersion[] {
  const versions = [...builtInGroupVersions]
  for (const { group, version } of gated)
    if (!isIn(versions, { group, version }))
      versions.splice(versions.findLastIndex((each) => each.group === group) + 1, 0, { group, version })
  return versions
}

/** Custom groups come after the built-in ones, in the order of their names, and before add-ons. */
function withCustomGroups(own: readonly GroupVersion[], resources: readonly CustomResource[]): readonly GroupVersion[] {
  const versions = new Map<string, Set<string>>()
  for (const { kind } of resources.flatMap((resource) => resource.versions))
    getOrInsert(versions, kind.group, () => new Set<string>()).add(kind.version)
  const isBuiltIn = (group: string) => own.some((each) => each.group === group)
  const sorted = (group: string, known: readonly string[] = []): readonly GroupVersion[] =>
    [...(versions.get(group) ?? [])]
      .filter((version) => !known.includes(version))
      .toSorted(compareVersions)
      .map((version) => ({ group, version }))
  const isAddOn = ({ group }: GroupVersion) => addOnGroups.includes(group)
  const ofGroup = (group: string) => own.filter((each) => each.group === group)
  const builtIn = [...new Set(own.filter((each) => !isAddOn(each)).map(({ group }) => group))]
  return [
    ...builtIn.flatMap((group) => [
      ...ofGroup(group),
      ...sorted(
        group,
        ofGroup(group).map(({ version }) => version),
      ),
    ]),
    ...[...versions.keys()]
      .filter((group) => !isBuiltIn(group))
      .toSorted()
      .flatMap((group) => sorted(group)),
    ...own.filter(isAddOn),
  ]
}
