// ClassResources: which device class provides which extended resource.
import type { DeviceClass } from '../../api/resource/v1/device-class.ts'

/** With this prefix, the name of a class is a resource name. */
const classPrefix = 'deviceclass.resource.kubernetes.io/'

export class ClassResources {
  readonly #classes = new Map<string, DeviceClass>()
  #byResource: ReadonlyMap<string, string> | undefined

  /** Returns whether the mapping has changed. */
  set(name: string, now: DeviceClass | undefined): boolean {
    const before = this.#classes.get(name)
    if (now === undefined) this.#classes.delete(name)
    else this.#classes.set(name, now)
    const isSame = before?.spec.extendedResourceName === now?.spec.extendedResourceName
    if (isSame && (before === undefined) === (now === undefined)) return false
    this.#byResource = undefined
    return true
  }

  /** The name of the class; undefined when no class provides the resource. */
  classFor(resource: string): string | undefined {
    if (!resource.includes('/')) return undefined
    return (this.#byResource ??= this.#sorted()).get(resource)
  }

  /** Of several classes for one resource the newest wins, then the first by name. */
  #sorted(): ReadonlyMap<string, string> {
    const youngest = [...this.#classes.values()].toSorted(
      ({ metadata: a }, { metadata: b }) =>
        (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '') || (a.name < b.name ? 1 : -1),
    )
    return new Map([
      ...youngest.flatMap(({ metadata, spec }) =>
        spec.extendedResourceName ? [[spec.extendedResourceName, metadata.name] as const] : [],
      ),
      ...youngest.map(({ metadata }) => [classPrefix + metadata.name, metadata.name] as const),
    ])
  }
}
