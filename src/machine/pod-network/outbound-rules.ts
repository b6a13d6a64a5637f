// The nftables table for traffic of pods to outside the cluster. Its source is replaced by the node's address, because
// other machines have no route to pods. Traffic between pods keeps its source, on any node.
import { familyOf } from '../../base/text/address-family.ts'
import { nodeTable } from './pod-network.ts'

const sets = [
  { family: 'IPv4', keyword: 'ip', type: 'ipv4_addr', multicast: '224.0.0.0/4' },
  { family: 'IPv6', keyword: 'ip6', type: 'ipv6_addr', multicast: 'ff00::/8' },
] as const

/** Replaces the table in one transaction. `ownRanges` are those of this node, `allRanges` those of all nodes. */
export function outboundRules(ownRanges: readonly string[], allRanges: readonly string[]): string {
  const lines = sets.flatMap(({ family, keyword, type, multicast }) => {
    const own = ownRanges.filter((range) => familyOf(range) === family)
    if (own.length === 0) return []
    const all = [...new Set([...own, ...allRanges.filter((range) => familyOf(range) === family), multicast])]
    return {
      set: `  set not-masqueraded-${keyword} { type ${type}; flags interval; auto-merge; elements = { ${all.join(', ')} } }`,
      rules: own.map(
        (range) => `    ${keyword} saddr ${range} ${keyword} daddr != @not-masqueraded-${keyword} masquerade`,
      ),
    }
  })
  return [
    // The table may not exist: declaring it first makes the deletion valid.
    `table inet ${nodeTable}`,
    `delete table inet ${nodeTable}`,
    `table inet ${nodeTable} {`,
    ...lines.map(({ set }) => set),
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    ...lines.flatMap(({ rules }) => rules),
    '  }',
    '}',
    '',
  ].join('\n')
}
