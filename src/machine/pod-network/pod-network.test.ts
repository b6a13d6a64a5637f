import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { forwardFirewall } from './forward-firewall.ts'
import { adjacentRoutes, NodePodNetwork } from './node-pod-network.ts'
import { outboundRules } from './outbound-rules.ts'
import type { PodPaths } from './pod-network.ts'

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

/** The network of a node whose programs succeed, except for those whose input contains `failing`. */
function newNetwork(failing = 'nothing') {
  const commands: string[] = []
  const settings: string[] = []
  const run = (command: string, args: readonly string[], { input = '' }: { readonly input?: string }) => {
    const text = [command, ...args, input].join(' ')
    commands.push(text)
    const fails = text.includes('link show') || text.includes(failing)
    return Promise.resolve({ code: fails ? 1 : 0, stdout: '', stderr: fails ? 'Unknown device type.' : '' })
  }
  const set = (name: string, value: string) => Promise.resolve(settings.push(`${name}=${value}`) > 0)
  const ranges = [{ range: '10.244.0.0/24', gateway: '10.244.0.1', tunnelAddress: '10.244.0.0' }]
  const network = new NodePodNetwork(
    { bridge: 'b', ranges, hardwareAddress: '02:58:0a:f4:00:00', nodeAddress: '192.0.2.1', serviceRanges: [] },
    { processes: { run }, kernelSettings: { set } },
  )
  return { network, commands, settings }
}

const { signal } = new AbortController()
const byRoute: PodPaths = { routes: [{ range: '10.244.1.0/24', via: '192.0.2.2', kind: 'route' }], tunnels: [] }
const byTunnel: PodPaths = {
  routes: [{ range: '10.244.1.0/24', via: '10.244.1.0', kind: 'vxlan' }],
  tunnels: [{ hardwareAddress: '02:58:0a:f4:01:00', nodeAddress: '198.51.100.2', nextHops: ['10.244.1.0'] }],
}

test('a node with other nodes accepts packets through VXLAN, also if it reaches them by routes', async () => {
  const { network, commands, settings } = newNetwork()
  await network.setPaths({ routes: [], tunnels: [] }, signal)
  equal(
    commands.some((command) => command.includes('type vxlan')),
    false,
  )
  await network.setPaths(byRoute, signal)
  equal(commands.filter((command) => command.includes('type vxlan')).length, 1)
  deepEqual(settings, ['net/ipv4/conf/coxswain-vx/rp_filter=2'])
})

test('a kernel without VXLAN: routes are set, and a path that needs VXLAN is an error', async () => {
  const { network, commands } = newNetwork('type vxlan')
  await network.setPaths(byRoute, signal)
  equal(
    commands.some((command) => command.includes('route replace 10.244.1.0/24 via 192.0.2.2')),
    true,
  )
  await rejects(network.setPaths(byTunnel, signal), /ip -batch: Unknown device type/)
})
