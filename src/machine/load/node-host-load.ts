// NodeHostLoad: the load of this machine from /proc and /sys.
import { readdir, readFile, stat, statfs } from 'node:fs/promises'
import type { FileSystemLoad, HostLoad, HugePages, InterfaceLoad, MemoryLoad, ProcessLoad } from './host-load.ts'

const hugePagesDirectory = '/sys/kernel/mm/hugepages'
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
    // linear: the text is written by the kernel.
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
    const capacityBytes = bytes('MemTotal')
    const usedBytes = capacityBytes - bytes('MemFree')
    const workingSetBytes = Math.max(0, usedBytes - bytes('Inactive\\(file\\)'))
    const availableBytes = capacityBytes - workingSetBytes
    const swapCapacityBytes = bytes('SwapTotal')
    const swapUsedBytes = swapCapacityBytes - bytes('SwapFree')
    const rssBytes = bytes('AnonPages')
    return {
      capacityBytes,
      availableBytes,
      usedBytes,
      workingSetBytes,
      rssBytes,
      swapCapacityBytes,
      swapUsedBytes,
    }
  }

  async fileSystem(path: string): Promise<FileSystemLoad> {
    const [{ bsize, blocks, bfree, bavail, files, ffree }, { dev: device }] = await Promise.all([
      statfs(path),
      stat(path),
    ])
    return {
      capacityBytes: blocks * bsize,
      availableBytes: bavail * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      device,
    }
  }

  async network(process?: number): Promise<readonly InterfaceLoad[]> {
    const text = await readFile(`/proc/${process ?? 'self'}/net/dev`, 'utf8').catch(() => '')
    return text.split('\n').flatMap((line) => {
      const [name = '', counts] = line.split(':').map((part) => part.trim())
      if (counts === undefined || name === 'lo') return []
      const numbers = counts.split(/\s+/).map(Number)
      const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = numbers
      return [{ name, rxBytes, rxErrors, txBytes, txErrors }]
    })
  }

  async hugePages(): Promise<readonly HugePages[]> {
    const names = await readdir(hugePagesDirectory).catch(() => [])
    return Promise.all(
      names.map(async (name) => ({
        pageBytes: Number(/\d+/.exec(name)?.[0]) * 1024,
        pages: Number(await readFile(`${hugePagesDirectory}/${name}/nr_hugepages`, 'utf8')),
      })),
    )
  }

  async processes(): Promise<ProcessLoad> {
    const [pidMax, threadsMax, load] = await Promise.all(
      ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max', '/proc/loadavg'].map((path) =>
        readFile(path, 'utf8'),
      ),
    )
    const running = Number(/\/(\d+)/.exec(load ?? '')?.[1] ?? 0)
    return { max: Math.min(Number(pidMax), Number(threadsMax)), running }
  }
}
