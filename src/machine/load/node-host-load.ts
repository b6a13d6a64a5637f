// NodeHostLoad: the load of this machine, as the kernel tells it.
import { readdir, readFile, statfs } from 'node:fs/promises'
import type { FileSystemLoad, HostLoad, HugePages, MemoryLoad, ProcessLoad } from './host-load.ts'

const hugePagesFolder = '/sys/kernel/mm/hugepages'
const nanosPerTick = 10_000_000

export class NodeHostLoad implements HostLoad {
  readonly whenLoaded = Promise.resolve()

  async cpuNanos(): Promise<number> {
    const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
    const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0, stolen = 0] = line
      .trim()
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return (user + nice + system + interrupts + soft + stolen) * nanosPerTick
  }

  async memory(): Promise<MemoryLoad> {
    const text = await readFile('/proc/meminfo', 'utf8')
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
    const capacityBytes = bytes('MemTotal')
    const usedBytes = capacityBytes - bytes('MemFree')
    const workingSetBytes = Math.max(0, usedBytes - bytes('Inactive\\(file\\)'))
    const availableBytes = capacityBytes - workingSetBytes
    return { capacityBytes, availableBytes, usedBytes, workingSetBytes, rssBytes: bytes('AnonPages') }
  }

  async fileSystem(path: string): Promise<FileSystemLoad> {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path)
    return {
      capacityBytes: blocks * bsize,
      availableBytes: bavail * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
    }
  }

  async hugePages(): Promise<readonly HugePages[]> {
    const names = await readdir(hugePagesFolder).catch(() => [])
    return Promise.all(
      names.map(async (name) => ({
        pageBytes: Number(/\d+/.exec(name)?.[0]) * 1024,
        pages: Number(await readFile(`${hugePagesFolder}/${name}/nr_hugepages`, 'utf8')),
      })),
    )
  }

  async processes(): Promise<ProcessLoad> {
    const [pidMax, threadsMax, load] = await Promise.all(
      ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max', '/proc/loadavg'].map((path) =>
        readFile(path, 'utf8'),
      ),
    )
    const running = Number(/\d+\/(\d+)/.exec(load ?? '')?.[1] ?? 0)
    return { max: Math.min(Number(pidMax), Number(threadsMax)), running }
  }
}
