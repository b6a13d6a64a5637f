// Finds a host firewall that drops forwarded packets by default: pods could not reach other nodes or the outside. Rules of
// others are not changed; the message names the program that owns them.

interface Chain {
  readonly family?: string
  readonly table?: string
  readonly name?: string
  readonly hook?: string
  readonly policy?: string
}

/** `text` is the output of `nft -j list chains`. */
export function forwardFirewall(text: string): string | undefined {
  for (const chain of chainsIn(text)) {
    const { family = '', table = '', name = '', hook, policy } = chain
    if (hook !== 'forward' || policy !== 'drop') continue
    return `${ownerOf(family, table)} drops forwarded packets by default (chain ${name} of table ${family} ${table})`
  }
  return undefined
}

function chainsIn(text: string): readonly Chain[] {
  try {
    const { nftables = [] } = JSON.parse(text) as { nftables?: readonly { chain?: Chain }[] }
    return nftables.flatMap(({ chain }) => chain ?? [])
  } catch {
    return []
  }
}

function ownerOf(family: string, table: string): string {
  if (table === 'firewalld') return 'firewalld'
  if (table === 'filter' && (family === 'ip' || family === 'ip6')) return 'iptables (iptables-nft)'
  return 'nftables'
}
