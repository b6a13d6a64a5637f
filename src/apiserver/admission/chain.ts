// AdmissionChain: the plugins in their order, narrowed once per kind, operation and subresource to those concerned.
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './plugin.ts'
import { Reservations, type Reservation } from './reservation.ts'

interface Concerned {
  readonly admitting: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
  readonly reserving: readonly AdmissionPlugin[]
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #host: AdmissionHost
  readonly #reservations = new Reservations()
  readonly #concerned = new Map<Kind, Map<string, Concerned>>()

  constructor(plugins: readonly AdmissionPlugin[], host: AdmissionHost) {
    this.#plugins = plugins
    this.#host = host
  }

  /** The object as the plugins want it. */
  async admit(attributes: AdmissionAttributes): Promise<ApiObject | undefined> {
    let now = attributes
    do
      for (const plugin of this.#of(attributes).admitting) {
        const admitted = plugin.admit?.(now, this.#host)
        const object = admitted instanceof Promise ? await admitted : admitted
        if (object !== now.object) now = { ...attributes, object }
      }
    while (attributes.reinvocation.next())
    return now.object
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#of(attributes).validating) {
      const verdict = plugin.validate?.(attributes, this.#host)
      if (verdict instanceof Promise) await verdict
    }
  }

  /** Commits a write together with what the plugins reserve for it. */
  reserving<T>(attributes: AdmissionAttributes, commit: (reserved: readonly Reservation[]) => Promise<T>): Promise<T> {
    const { reserving } = this.#of(attributes)
    const ask = () =>
      reserving.map((plugin) => plugin.reserve?.(attributes, this.#host)).filter((each) => each !== undefined)
    let asked: ReturnType<typeof ask> | undefined = ask()
    // Most namespaces have no quota: their writes do not wait for an answer that is known.
    if (asked.length === 0) return commit([])
    const reserve = async () => {
      const answers = asked ?? ask()
      asked = undefined
      return (await Promise.all(answers)).flat()
    }
    return this.#reservations.write(attributes.namespace, reserve, commit)
  }

  #of({ kind, operation, subresource }: AdmissionAttributes): Concerned {
    const byOperation = this.#concerned.get(kind) ?? new Map<string, Concerned>()
    this.#concerned.set(kind, byOperation)
    const key = `${operation}/${subresource}`
    const known = byOperation.get(key)
    if (known !== undefined) return known
    const plugins = this.#plugins.filter((plugin) => isConcerned(plugin, kind, operation, subresource))
    const found = {
      admitting: plugins.filter(({ admit }) => admit !== undefined),
      validating: plugins.filter(({ validate }) => validate !== undefined),
      reserving: plugins.filter(({ reserve }) => reserve !== undefined),
    }
    byOperation.set(key, found)
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
