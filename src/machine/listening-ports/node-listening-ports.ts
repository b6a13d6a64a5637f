import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSockets, type ListeningPorts } from './listening-ports.ts'

const tables = [
  ['tcp', 'TCP'],
  ['tcp6', 'TCP'],
  ['udp', 'UDP'],
  ['udp6', 'UDP'],
] as const

const noPorts: readonly number[] = []

/**
 * Reads the kernel's tables. One that does not exist, as those of IPv6 where it is disabled, is empty. Sockets of this process on
 * the given ports are left out.
 */
export const nodeListeningPorts = (ownPorts = noPorts, directory = '/proc/net'): ListeningPorts => ({
  async read() {
    const own = ownPorts.length === 0 ? new Set() : await ownInodes()
    const texts = await Promise.all(tables.map(([name]) => readFile(join(directory, name), 'utf8').catch(() => '')))
    return tables
      .flatMap(([, protocol], index) => parseSockets(texts[index] ?? '', protocol))
      .filter(({ port, inode }) => !(ownPorts.includes(port) && own.has(inode)))
  },
})

const ownFiles = '/proc/self/fd'

/** The inodes of the sockets of this process. */
async function ownInodes(): Promise<ReadonlySet<string>> {
  // A file may be closed before its link is read.
  const linkOf = (name: string) => readlink(join(ownFiles, name)).catch(() => '')
  const links = await Promise.all((await readdir(ownFiles)).map(linkOf))
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}
