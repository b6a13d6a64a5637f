// The nftables table for traffic of pods to outside the cluster. Its source is replaced by the node's address, because
// other machines have no route to pods. Traffic between pods keeps its source, on any node.
import { mustParseCidr, type Cidr } from '../../base/net/cidr.ts'
import { commandText, joinCommandText, type CommandText } from '../../base/net/command-text.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { nodeTable } from './pod-network.ts'

const sets = [
  { family: 'IPv4', keyword: 'ip', type: 'ipv4_addr', multicast: mustParseCidr('224.0.0.0/4') },
  { family: 'IPv6', keyword: 'ip6', type: 'ipv6_addr', multicast: mustParseCidr('ff00::/8') },
] as const

/** Replaces the table in one transaction. `ownRanges` are those of this node, `allRanges` those of all nodes. */
export function outboundRules(ownRanges: readonly Cidr[], allRanges: readonly Cidr[]): CommandText {
  const lines = sets.flatMap(({ family, keyword, type, multicast }) => {
    const own = ownRanges.filter((range) => familyOf(range) === family)
    if (own.length === 0) return []
    const all = [...new Set([...own, ...allRanges.filter((range) => familyOf(range) === family), multicast])]
    const elements = joinCommandText(all, ', ')
    return {
      set: commandText`  set not-masqueraded-${keyword} { type ${type}; flags interval; auto-merge; elements = { ${elements} } }`,
      rules: own.map(
        (range) =>
          commandText`    ${keyword} saddr ${range} ${keyword} daddr != @not-masqueraded-${keyword} masquerade`,
      ),
    }
  })
  return joinCommandText(
    [
      // The table may not exist: declaring it first makes the deletion valid.
      removedNodeTable,
      commandText`table inet ${nodeTable} {`,
      ...lines.map(({ set }) => set),
      commandText`  chain postrouting {`,
      commandText`    type nat hook postrouting priority srcnat; policy accept;`,
      ...lines.flatMap(({ rules }) => rules),
      commandText`  }`,
      commandText`}`,
    ],
    '\n',
  )
}

export const removedNodeTable = commandText`table inet ${nodeTable}\ndelete table inet ${nodeTable}`
