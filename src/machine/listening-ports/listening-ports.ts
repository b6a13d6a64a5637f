// ListeningPorts: the sockets on which programs of the machine receive connections or datagrams.

export interface ListeningSocket {
  readonly protocol: 'TCP' | 'UDP'
  /** An IP address; undefined for all addresses. */
  readonly address: string | undefined
  readonly port: number
}

export interface KernelSocket extends ListeningSocket {
  /** The number by which the files of processes refer to the socket. */
  readonly inode: string
}

export interface ListeningPorts {
  read(): Promise<readonly ListeningSocket[]>
}

/** States of sockets in the kernel's tables: TCP that listens, and UDP without a peer. */
const receivingState = { TCP: '0A', UDP: '07' } as const

/** Parses /proc/net/tcp, tcp6, udp or udp6. Lines that are not understood are left out. */
export function parseSockets(table: string, protocol: ListeningSocket['protocol']): readonly KernelSocket[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    const [, address = '', port = ''] = /^([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4})$/.exec(local) ?? []
    if (state !== receivingState[protocol] || address === '') return []
    return [{ protocol, address: addressOf(address), port: Number.parseInt(port, 16), inode }]
  })
}

/** The kernel prints addresses as words of the machine, whose last byte is the first of the address. */
function addressOf(words: string): string | undefined {
  if (/^0+$/.test(words)) return undefined
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).toReversed())
  const text = bytes.join('').toLowerCase()
  const mapped = /^0{20}ffff(.{8})$/.exec(text)?.[1] ?? (bytes.length === 4 ? text : undefined)
  if (mapped === undefined) return shortened((text.match(/.{4}/g) ?? []).map((group) => Number.parseInt(group, 16)))
  const address = (mapped.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.')
  return address === '0.0.0.0' ? undefined : address
}

/** An IPv6 address in the form of RFC 5952. */
const shortened = (groups: readonly number[]): string =>
  new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1)
