import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSockets, type ListeningPorts } from './listening-ports.ts'

const tables = [
  ['tcp', 'TCP'],
  ['tcp6', 'TCP'],
  ['udp', 'UDP'],
  ['udp6', 'UDP'],
] as const

/** Reads the kernel's tables. One that does not exist, as those of IPv6 where it is disabled, is empty. */
export const nodeListeningPorts = (directory = '/proc/net'): ListeningPorts => ({
  async read() {
    const texts = await Promise.all(tables.map(([name]) => readFile(join(directory, name), 'utf8').catch(() => '')))
    return tables.flatMap(([, protocol], index) => parseSockets(texts[index] ?? '', protocol))
  },
})
