// AdmissionChain: runs the plugins in order. The plugins that handle a kind, operation and subresource are selected once.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './admission-plugin.ts'
import { Reservations, type Reservation } from './reservation.ts'

interface Concerned {
  readonly admitting: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
  readonly reserving: readonly AdmissionPlugin[]
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly host: AdmissionHost
  readonly #reservations = new Reservations()
  /** By kind, operation and subresource. */
  readonly #concerned = new Map<Kind, Map<string, Map<string, Concerned>>>()

  constructor(plugins: readonly AdmissionPlugin[], host: AdmissionHost) {
    this.#plugins = plugins
    this.host = host
  }

  /** Returns the object as the mutating plugins changed it. */
  admit(attributes: AdmissionAttributes): MaybePromise<ApiObject | undefined> {
    return this.#admitFrom(0, this.#of(attributes).admitting, attributes)
  }

  #admitFrom(
    first: number,
    plugins: readonly AdmissionPlugin[],
    attributes: AdmissionAttributes,
  ): MaybePromise<ApiObject | undefined> {
    for (let at = first, current = attributes; ; at++) {
      const plugin = plugins[at]
      if (plugin === undefined)
        return current.reinvocation.startNextRound() ? this.#admitFrom(0, plugins, current) : current.object
      const admitted = plugin.admit?.(current, this.host)
      if (admitted instanceof Promise)
        return admitted.then((object) => this.#admitFrom(at + 1, plugins, { ...current, object }))
      if (admitted !== current.object) current = { ...current, object: admitted }
    }
  }

  validate(attributes: AdmissionAttributes): MaybePromise<void> {
    return this.#validateFrom(0, this.#of(attributes).validating, attributes)
  }

  #validateFrom(
    first: number,
    plugins: readonly AdmissionPlugin[],
    attributes: AdmissionAttributes,
  ): MaybePromise<void> {
    for (let at = first; at < plugins.length; at++) {
      const verdict = plugins[at]?.validate?.(attributes, this.host)
      if (verdict instanceof Promise) return verdict.then(() => this.#validateFrom(at + 1, plugins, attributes))
    }
  }

  /** Commits a write together with the reservations of the plugins. */
  reserving<T>(attributes: AdmissionAttributes, commit: (reserved: readonly Reservation[]) => Promise<T>): Promise<T> {
    const { reserving } = this.#of(attributes)
    if (reserving.length === 0) return commit([])
    const startReservations = () =>
      reserving.map((plugin) => plugin.reserve?.(attributes, this.host)).filter((each) => each !== undefined)
    let pending: ReturnType<typeof startReservations> | undefined = startReservations()
    // Most namespaces have no quota. Their writes are committed synchronously.
    if (pending.length === 0) return commit([])
    const reserve = async () => {
      const answers = pending ?? startReservations()
      pending = undefined
      return (await Promise.all(answers)).flat()
    }
    return this.#reservations.write(attributes.namespace, reserve, commit)
  }

  #of({ kind, operation, subresource }: AdmissionAttributes): Concerned {
    const known = this.#concerned.get(kind)?.get(operation)?.get(subresource)
    if (known !== undefined) return known
    const plugins = this.#plugins.filter((plugin) => isConcerned(plugin, kind, operation, subresource))
    const found = {
      admitting: plugins.filter(({ admit }) => admit !== undefined),
      validating: plugins.filter(({ validate }) => validate !== undefined),
      reserving: plugins.filter(({ reserve }) => reserve !== undefined),
    }
    const byOperation = getOrInsert(this.#concerned, kind, () => new Map<string, Map<string, Concerned>>())
    getOrInsert(byOperation, operation, () => new Map<string, Concerned>()).set(subresource, found)
    return found
  }
}

function isConcerned(
  { handles: { operations, kinds, subresources = [''] } }: AdmissionPlugin,
  kind: Kind,
  operation: AdmissionAttributes['operation'],
  subresource: string,
): boolean {
  if (!operations.includes(operation) || (kinds !== undefined && !kinds.includes(kind))) return false
  return subresources === 'all' || subresources.includes(subresource)
}
