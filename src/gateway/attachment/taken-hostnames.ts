// TakenHostnames: the hostnames that HTTPRoutes or GRPCRoutes have at a listener, so that routes of the other kind cannot
// use them. No listener has TLSRoutes and others. Two hostnames conflict if a name exists that both stand for. A check costs one lookup for each label, not for
// each hostname.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Listener } from '../kinds/gateway-kinds.ts'
import type { RouteKind } from '../kinds/route-kinds.ts'

type SharingKind = Exclude<RouteKind, 'TLSRoute'>

export class TakenHostnames {
  readonly #byListener = new Map<Listener, Record<SharingKind, HostnameSet>>()

  /** False if routes of the other kind have one of the hostnames. */
  take(kind: RouteKind, listener: Listener, hostnames: readonly string[]): boolean {
    if (kind === 'TLSRoute') return true
    const taken = getOrInsert(this.#byListener, listener, () => ({
      GRPCRoute: new HostnameSet(),
      HTTPRoute: new HostnameSet(),
    }))
    const others = taken[kind === 'GRPCRoute' ? 'HTTPRoute' : 'GRPCRoute']
    if (hostnames.some((name) => others.overlaps(name))) return false
    for (const name of hostnames) taken[kind].add(name)
    return true
  }
}

/** An empty name stands for every name, a wildcard `*.example.com` for names with more labels. */
class HostnameSet {
  readonly #names = new Set<string>()
  /** `.example.com` for each name that ends with it. */
  readonly #suffixes = new Set<string>()

  add(name: string): void {
    this.#names.add(name)
    for (const suffix of suffixesOf(name)) this.#suffixes.add(suffix)
  }

  overlaps(name: string): boolean {
    if (this.#names.size === 0) return false
    if (name === '' || this.#names.has('') || this.#names.has(name)) return true
    if (name.startsWith('*.') && this.#suffixes.has(name.slice(1))) return true
    return suffixesOf(name).some((suffix) => this.#names.has(`*${suffix}`))
  }
}

/** Of `a.example.com`: `.example.com` and `.com`. */
function suffixesOf(name: string): string[] {
  const suffixes: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) suffixes.push(name.slice(dot))
  return suffixes
}
