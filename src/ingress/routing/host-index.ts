// HostIndex: finds the entry of the most specific host: an exact name, then the longest wildcard, then any host.
import type { RouteHost } from './route.ts'

/** No longer host has a wildcard; each label of a host costs one lookup. */
const hostCharactersMax = 253

export class HostIndex<T> {
  readonly #exact = new Map<string, T>()
  /** By suffix. */
  readonly #oneLabel = new Map<string, T>()
  readonly #anyLabels = new Map<string, T>()
  /** By the empty name. */
  readonly #any = new Map<string, T>()

  constructor(entries: Iterable<readonly [RouteHost, T]> = []) {
    for (const [host, entry] of entries) this.set(host, entry)
  }

  /** The entry of exactly this host or wildcard. */
  get(host: RouteHost): T | undefined {
    return this.#mapOf(host).get(nameOf(host))
  }

  set(host: RouteHost, entry: T): void {
    this.#mapOf(host).set(nameOf(host), entry)
  }

  delete(host: RouteHost): void {
    this.#mapOf(host).delete(nameOf(host))
  }

  /** `host` is in lower case and has no port. */
  find(host: string): T | undefined {
    const exact = this.#exact.get(host)
    if (exact !== undefined) return exact
    if (this.#oneLabel.size + this.#anyLabels.size === 0 || host.length > hostCharactersMax) return this.#any.get('')
    let dot = host.indexOf('.')
    const suffix = host.slice(dot + 1)
    const oneLabel = dot > 0 ? this.#oneLabel.get(suffix) : undefined
    // With equal suffixes the wildcard for one label is more specific.
    if (oneLabel !== undefined) return oneLabel
    for (; dot > 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#anyLabels.get(host.slice(dot + 1))
      if (found !== undefined) return found
    }
    return this.#any.get('')
  }

  #mapOf(host: RouteHost): Map<string, T> {
    if (host.kind === 'any') return this.#any
    if (host.kind === 'exact') return this.#exact
    return host.labels === 'one' ? this.#oneLabel : this.#anyLabels
  }
}

const nameOf = (host: RouteHost): string => (host.kind === 'any' ? '' : host.kind === 'exact' ? host.name : host.suffix)

/** Equal for hosts that serve the same names. */
export const hostKey = (host: RouteHost): string =>
  host.kind === 'any' ? '*' : host.kind === 'exact' ? host.name : `*${host.labels === 'one' ? '' : '*'}.${host.suffix}`
