// SimulatedCgroups: cgroups in memory for simulated nodes. Tests set their usage.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { CgroupLimits, Cgroups, CgroupUsage } from './cgroups.ts'

const nothing: CgroupUsage = {
  cpuNanos: 0,
  memoryBytes: 0,
  workingSetBytes: 0,
  rssBytes: 0,
  pageFaults: 0,
  majorPageFaults: 0,
  swapBytes: 0,
  processes: 0,
}

export class SimulatedCgroups implements Cgroups {
  readonly #groups = new Map<string, CgroupLimits>()
  /** Names of the children, by path. */
  readonly #names = new Map<string, Set<string>>()
  readonly #usage: (path: string) => CgroupUsage | undefined

  constructor(usage: (path: string) => CgroupUsage | undefined = () => undefined) {
    this.#usage = usage
  }

  make(path: string, limits: CgroupLimits): Promise<void> {
    for (let at = path; at !== '' && !this.#groups.has(at); at = parentOf(at)) {
      this.#groups.set(at, {})
      getOrInsert(this.#names, parentOf(at), () => new Set()).add(nameOf(at))
    }
    this.#groups.set(path, limits)
    return Promise.resolve()
  }

  remove(path: string): Promise<void> {
    if (!this.#groups.has(path)) return Promise.resolve()
    this.#removeBelow(path)
    this.#names.get(parentOf(path))?.delete(nameOf(path))
    return Promise.resolve()
  }

  #removeBelow(path: string): void {
    for (const name of this.#names.get(path) ?? []) this.#removeBelow(`${path}/${name}`)
    this.#names.delete(path)
    this.#groups.delete(path)
  }

  list(path: string): Promise<readonly string[]> {
    return Promise.resolve([...(this.#names.get(path) ?? [])])
  }

  limits(path: string): Promise<CgroupLimits | undefined> {
    return Promise.resolve(this.#groups.get(path))
  }

  process(_path: string): Promise<number | undefined> {
    return Promise.resolve(undefined)
  }

  usage(path: string): Promise<CgroupUsage | undefined> {
    return Promise.resolve(this.#groups.has(path) ? (this.#usage(path) ?? nothing) : undefined)
  }
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
