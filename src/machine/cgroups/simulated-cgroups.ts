// SimulatedCgroups: control groups in memory, for simulated nodes. What their processes use, the test says.
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
  readonly #usage: (path: string) => CgroupUsage | undefined

  constructor(usage: (path: string) => CgroupUsage | undefined = () => undefined) {
    this.#usage = usage
  }

  make(path: string, limits: CgroupLimits): Promise<void> {
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      if (!this.#groups.has(at)) this.#groups.set(at, {})
    this.#groups.set(path, limits)
    return Promise.resolve()
  }

  remove(path: string): Promise<void> {
    for (const group of [...this.#groups.keys()])
      if (group === path || group.startsWith(`${path}/`)) this.#groups.delete(group)
    return Promise.resolve()
  }

  list(path: string): Promise<readonly string[]> {
    const below = [...this.#groups.keys()].filter((group) => group.startsWith(`${path}/`))
    return Promise.resolve([...new Set(below.map((group) => group.slice(path.length + 1).split('/')[0] ?? ''))])
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
