// HostIndex: finds the entry of the most specific host: an exact name, then the longest wildcard, then any host.
import type { RouteHost } from './route.ts'

export class HostIndex<T> {
  readonly #exact = new Map<string, T>()
  /** By suffix. */
  readonly #oneLabel = new Map<string, T>()
  readonly #anyLabels = new Map<string, T>()
  #any: T | undefined

  constructor(entries: Iterable<readonly [RouteHost, T]>) {
    for (const [host, entry] of entries)
      if (host.kind === 'any') this.#any = entry
      else if (host.kind === 'exact') this.#exact.set(host.name, entry)
      else if (host.labels === 'one') this.#oneLabel.set(host.suffix, entry)
      else this.#anyLabels.set(host.suffix, entry)
  }

  /** `host` is in lower case and has no port. */
  find(host: string): T | undefined {
    const exact = this.#exact.get(host)
    if (exact !== undefined) return exact
    if (this.#oneLabel.size + this.#anyLabels.size === 0) return this.#any
    let dot = host.indexOf('.')
    const suffix = host.slice(dot + 1)
    const oneLabel = dot > 0 ? this.#oneLabel.get(suffix) : undefined
    // With equal suffixes the wildcard for one label is more specific.
    if (oneLabel !== undefined) return oneLabel
    for (; dot > 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#anyLabels.get(host.slice(dot + 1))
      if (found !== undefined) return found
    }
    return this.#any
  }
}

/** Equal for hosts that serve the same names. */
export const hostKey = (host: RouteHost): string =>
  host.kind === 'any' ? '*' : host.kind === 'exact' ? host.name : `*${host.labels === 'one' ? '' : '*'}.${host.suffix}`
