import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { forwardFirewall } from './forward-firewall.ts'
import { adjacentRoutes } from './node-pod-network.ts'
import { outboundRules } from './outbound-rules.ts'

const chains = (...list: readonly object[]) => JSON.stringify({ nftables: list.map((chain) => ({ chain })) })
const forward = { family: 'ip', table: 'filter', name: 'FORWARD', hook: 'forward', policy: 'drop' }

const firewalls: readonly (readonly [string, string, string | undefined])[] = [
  ['no chains', chains(), undefined],
  ['a chain that accepts', chains({ ...forward, policy: 'accept' }), undefined],
  ['a chain of another hook', chains({ ...forward, hook: 'input' }), undefined],
  [
    'iptables',
    chains(forward),
    'iptables (iptables-nft) drops forwarded packets by default (chain FORWARD of table ip filter)',
  ],
  [
    'firewalld',
    chains({ ...forward, family: 'inet', table: 'firewalld', name: 'filter_FORWARD' }),
    'firewalld drops forwarded packets by default (chain filter_FORWARD of table inet firewalld)',
  ],
  [
    'another table',
    chains({ ...forward, family: 'inet', table: 'mine', name: 'f' }),
    'nftables drops forwarded packets by default (chain f of table inet mine)',
  ],
  ['text that is not JSON', 'nothing', undefined],
]

for (const [name, text, expected] of firewalls)
  test(`the firewall that drops forwarded packets: ${name}`, () => equal(forwardFirewall(text), expected))

test('an address is adjacent if the route to it has no gateway and is not local', () => {
  const text = [
    '[{"dst":"192.0.2.2","dev":"eth0","prefsrc":"192.0.2.1"}]',
    '[{"dst":"198.51.100.1","gateway":"192.0.2.254","dev":"eth0"}]',
    '[{"dst":"198.51.100.2","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0"}]',
    '[{"type":"local","dst":"192.0.2.1","dev":"lo"}]',
    '',
  ].join('\n')
  deepEqual([...adjacentRoutes(text)], ['192.0.2.2'])
})

test('traffic from pods to outside is masqueraded; traffic to pods of any node is not', () => {
  const text = outboundRules(['10.244.0.0/24', 'fd00::/64'], ['10.244.1.0/24'])
  const rules = text.split('\n').filter((line) => line.includes('masquerade') && line.includes('saddr'))
  deepEqual(
    rules.map((line) => line.trim()),
    [
      'ip saddr 10.244.0.0/24 ip daddr != @not-masqueraded-ip masquerade',
      'ip6 saddr fd00::/64 ip6 daddr != @not-masqueraded-ip6 masquerade',
    ],
  )
  deepEqual(
    text.split('\n').flatMap((line) => /elements = \{ (.*) \} \}/.exec(line)?.[1] ?? []),
    ['10.244.0.0/24, 10.244.1.0/24, 224.0.0.0/4', 'fd00::/64, ff00::/8'],
  )
})
