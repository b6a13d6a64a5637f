// NodeCgroups: the host's cgroups, v1 or v2.
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CgroupLimits, Cgroups, CgroupUsage } from './cgroups.ts'
import { cgroupLayoutV1 } from './layout-v1.ts'
import { cgroupLayoutV2 } from './layout-v2.ts'
import type { CgroupFile, CgroupLayout } from './layout.ts'

export const cgroupMount = '/sys/fs/cgroup'

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ENODEV'].includes(codeOf(error) ?? '')

/** Removes the directory of a cgroup; the kernel removes its files with it. */
type RemoveDirectory = (path: string) => Promise<void>

export class NodeCgroups implements Cgroups {
  readonly #root: string
  readonly #layout: CgroupLayout
  readonly #removeDirectory: RemoveDirectory
  #present: Promise<readonly string[]> | undefined

  constructor(root: string, layout: CgroupLayout, removeDirectory: RemoveDirectory = rmdir) {
    this.#root = root
    this.#layout = layout
    this.#removeDirectory = removeDirectory
  }

  /** Detects the version of the host: only v2 has `cgroup.controllers` at the root. */
  static async open(root = cgroupMount): Promise<NodeCgroups> {
    const isUnified = await stat(join(root, 'cgroup.controllers')).catch(() => undefined)
    return new NodeCgroups(root, isUnified === undefined ? cgroupLayoutV1 : cgroupLayoutV2)
  }

  async make(path: string, limits: CgroupLimits): Promise<void> {
    const { delegation } = this.#layout
    for (const hierarchy of await this.#hierarchies()) {
      let above = join(this.#root, hierarchy)
      for (const name of path.split('/').filter((part) => part !== '')) {
        if (delegation !== undefined) await this.#delegate(above, delegation)
        above = join(above, name)
        await mkdir(above, { recursive: true })
      }
    }
    for (const { text, ...file } of this.#layout.writes(limits)) await this.#write(path, file, text)
  }

  /** Enables the controllers together, or one by one when the kernel lacks some of them. */
  async #delegate(directory: string, { name, text }: { readonly name: string; readonly text: string }): Promise<void> {
    const enable = (what: string) => writeFile(join(directory, name), what)
    await enable(text).catch(async () => {
      for (const one of text.split(' ')) await enable(one).catch(() => {})
    })
  }

  /** A limit of a missing controller is ignored. */
  async #write(path: string, file: CgroupFile, text: string): Promise<void> {
    await writeFile(this.#pathOf(path, file), text).catch((error: unknown) => {
      // Files cannot be created in a cgroup: the kernel reports EACCES for a missing one.
      if (!isMissing(error) && codeOf(error) !== 'EACCES') throw error
    })
  }

  async remove(path: string): Promise<void> {
    // The runtime creates cgroups in all hierarchies, including those that are not used here.
    const all = this.#layout.hierarchies.includes('') ? [''] : await readdir(this.#root)
    for (const hierarchy of all) await this.#removeTree(join(this.#root, hierarchy, path))
  }

  async #removeTree(directory: string): Promise<void> {
    try {
      for (const name of await this.#directoriesIn(directory)) await this.#removeTree(join(directory, name))
      await this.#removeDirectory(directory)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  async list(path: string): Promise<readonly string[]> {
    const [hierarchy = ''] = await this.#hierarchies()
    return this.#directoriesIn(join(this.#root, hierarchy, path)).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  }

  limits(path: string): Promise<CgroupLimits | undefined> {
    return this.#read(path, (read) => this.#layout.limits(read))
  }

  usage(path: string): Promise<CgroupUsage | undefined> {
    return this.#read(path, (read) => this.#layout.usage(read))
  }

  async process(path: string): Promise<number | undefined> {
    const [hierarchy = ''] = await this.#hierarchies()
    const directory = join(this.#root, hierarchy, path)
    const text = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => '')
    const [own] = text.split('\n').map(Number)
    if (own !== undefined && own > 0) return own
    for (const name of await this.list(path)) {
      const found = await this.process(`${path}/${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }

  async #read<T>(path: string, from: (read: (file: CgroupFile) => Promise<string | undefined>) => Promise<T>) {
    const [hierarchy = ''] = await this.#hierarchies()
    if ((await stat(join(this.#root, hierarchy, path)).catch(() => undefined)) === undefined) return undefined
    return from((file) =>
      readFile(this.#pathOf(path, file), 'utf8').catch((error: unknown) => {
        if (isMissing(error)) return undefined
        throw error
      }),
    )
  }

  /** The hierarchies of the machine, which do not change at run time. */
  #hierarchies(): Promise<readonly string[]> {
    this.#present ??= this.#detectHierarchies()
    return this.#present
  }

  async #detectHierarchies(): Promise<readonly string[]> {
    const { hierarchies } = this.#layout
    if (hierarchies.includes('')) return ['']
    const names = new Set(await readdir(this.#root))
    return hierarchies.filter((hierarchy) => names.has(hierarchy))
  }

  async #directoriesIn(directory: string): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  }

  #pathOf(path: string, { hierarchy, name }: CgroupFile): string {
    return join(this.#root, hierarchy, path, name)
  }
}
