// SimulatedDisk: files and mounts in memory for simulated nodes. There are no symbolic links.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { PathEscapes, type Disk, type DiskFile, type DiskKind } from './disk.ts'

type Entry = { readonly kind: 'directory' } | ({ readonly kind: 'file' } & DiskFile)

const directory: Entry = { kind: 'directory' }

export class SimulatedDisk implements Disk {
  readonly #entries = new Map<string, Entry>()
  /** Names in each directory. */
  readonly #names = new Map<string, Set<string>>()
  readonly #mounts = new Set<string>()
  readonly #groups = new Map<string, number>()

  makeDirectory(path: string, _mode: number): Promise<void> {
    for (let at = path; at !== '' && !this.#entries.has(at); at = directoryOf(at)) this.#set(at, directory)
    return Promise.resolve()
  }

  write(path: string, file: DiskFile): Promise<void> {
    this.#set(path, { kind: 'file', ...file })
    return Promise.resolve()
  }

  readTail(path: string, bytesMax: number): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(path)
    return Promise.resolve(entry?.kind === 'file' ? entry.content.slice(-bytesMax) : undefined)
  }

  async project(directory: string, files: ReadonlyMap<string, DiskFile>, _gid?: number): Promise<void> {
    for (const path of this.#below(directory)) if (path !== directory) this.#delete(path)
    for (const [path, file] of files) {
      await this.makeDirectory(directoryOf(`${directory}/${path}`), 0o755)
      await this.write(`${directory}/${path}`, file)
    }
  }

  changeGroup(path: string, gid: number, _signal: AbortSignal): Promise<void> {
    this.#groups.set(path, gid)
    return Promise.resolve()
  }

  hasGroup(path: string, gid: number): Promise<boolean> {
    return Promise.resolve(this.#groups.get(path) === gid)
  }

  kindOf(path: string): Promise<DiskKind | undefined> {
    return Promise.resolve(this.#entries.get(path)?.kind)
  }

  async mountSubPath(directory: string, subPath: string, to: string): Promise<void> {
    const names = subPath.split('/').filter((name) => name !== '' && name !== '.')
    if (names.includes('..')) throw new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
    const path = [directory, ...names].join('/')
    if (!this.#entries.has(path)) await this.makeDirectory(path, 0o750)
    await this.makeDirectory(to, 0o750)
    this.#mounts.add(to)
  }

  remove(path: string): Promise<void> {
    const mounts = [...this.#mounts].filter((mountPoint) => isAtOrBelow(mountPoint, path))
    if (mounts.length > 0)
      return Promise.reject(new Error(`${path} is not removed: something is mounted at ${mounts.join(', ')}`))
    for (const below of this.#below(path)) {
      this.#delete(below)
      this.#groups.delete(below)
    }
    return Promise.resolve()
  }

  list(path: string): Promise<readonly string[]> {
    return Promise.resolve([...(this.#names.get(path) ?? [])])
  }

  mountTmpfs(path: string, _bytesMax: number | undefined): Promise<void> {
    this.#mounts.add(path)
    return Promise.resolve()
  }

  mountHugetlbfs(path: string, _pageBytes: number): Promise<void> {
    return this.mountTmpfs(path, undefined)
  }

  unmount(path: string): Promise<void> {
    this.#mounts.delete(path)
    return Promise.resolve()
  }

  mountsBelow(path: string): Promise<readonly string[]> {
    return Promise.resolve([...this.#mounts].filter((mountPoint) => isAtOrBelow(mountPoint, path)))
  }

  usedBytes(path: string): Promise<number> {
    const sizes = this.#below(path).map((below) => {
      const entry = this.#entries.get(below)
      return entry?.kind === 'file' ? entry.content.length : 0
    })
    return Promise.resolve(sizes.reduce((sum, size) => sum + size, 0))
  }

  #set(path: string, entry: Entry): void {
    this.#entries.set(path, entry)
    getOrInsert(this.#names, directoryOf(path), () => new Set()).add(nameOf(path))
  }

  #delete(path: string): void {
    this.#entries.delete(path)
    const names = this.#names.get(directoryOf(path))
    names?.delete(nameOf(path))
    if (names?.size === 0) this.#names.delete(directoryOf(path))
  }

  /** The path itself, if it exists, and everything below it. */
  #below(path: string): string[] {
    const inside = [...(this.#names.get(path) ?? [])].flatMap((name) => this.#below(`${path}/${name}`))
    return this.#entries.has(path) ? [path, ...inside] : inside
  }
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const isAtOrBelow = (candidate: string, path: string): boolean => candidate === path || candidate.startsWith(`${path}/`)
