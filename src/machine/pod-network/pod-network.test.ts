import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr as cidr } from '../../base/net/cidr.ts'
import { mustParseInterfaceName } from '../../base/net/interface-name.ts'
import { mustParseIp as ip } from '../../base/net/ip-address.ts'
import { macOfOctets } from '../../base/net/mac-address.ts'
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
    '[{"type":"broadcast","dst":"192.0.2.255","dev":"eth0"}]',
    '',
  ].join('\n')
  deepEqual([...adjacentRoutes(text)], ['192.0.2.2'])
})

test('traffic from pods to outside is masqueraded; traffic to pods of any node is not', () => {
  const text = outboundRules([cidr('10.244.0.0/24'), cidr('fd00::/64')], [cidr('10.244.1.0/24')])
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

/** The network of a node whose programs succeed, except for commands that contain `failing`. */
function newNetwork(failing = 'nothing') {
  const commands: string[] = []
  const settings: string[] = []
  const run = (command: string, args: readonly string[], { input = '' }: { readonly input?: string }) => {
    commands.push([command, ...args, input].join(' '))
    if (args.includes('show') && args.includes('link')) return Promise.resolve({ code: 1, stdout: '', stderr: 'none' })
    const failures = input
      .split('\n')
      .flatMap((line, index) => (line.includes(failing) ? [`Error: refused.\nCommand failed -:${index + 1}\n`] : []))
    return Promise.resolve({ code: failures.length > 0 ? 1 : 0, stdout: '', stderr: failures.join('') })
  }
  const set = (name: string, value: string) => Promise.resolve(settings.push(`${name}=${value}`) > 0)
  const ranges = [{ range: cidr('10.244.0.0/24'), gateway: ip('10.244.0.1'), tunnelAddress: ip('10.244.0.0') }]
  const network = new NodePodNetwork(
    {
      bridge: mustParseInterfaceName('b'),
      ranges,
      hardwareAddress: macOfOctets([2, 0x58, 10, 244, 0, 0]),
      nodeAddress: ip('192.0.2.1'),
      serviceRanges: [],
    },
    { processes: { run }, kernelSettings: { set } },
  )
  return { network, commands, settings }
}

const { signal } = new AbortController()
const direct = (at: number) =>
  ({ range: cidr(`10.244.${at}.0/24`), via: ip(`192.0.2.${at + 1}`), kind: 'route' }) as const
const tunnelled = (at: number): PodPaths => ({
  routes: [{ range: cidr(`10.244.${at}.0/24`), via: ip(`10.244.${at}.0`), kind: 'vxlan' }],
  tunnels: [
    {
      hardwareAddress: macOfOctets([2, 0x58, 10, 244, at, 0]),
      nodeAddress: ip(`198.51.100.${at}`),
      nextHops: [ip(`10.244.${at}.0`)],
    },
  ],
})
const byRoute: PodPaths = { routes: [direct(1)], tunnels: [] }

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

test('a kernel without VXLAN: routes are set, and only paths that need VXLAN fail', async () => {
  const { network, commands } = newNetwork('type vxlan')
  const { routes, tunnels } = tunnelled(3)
  const failed = await network.setPaths({ routes: [direct(1), ...routes, direct(2)], tunnels }, signal)
  deepEqual([...failed], [['10.244.3.0/24', 'ip -batch: Error: refused.']])
  equal(
    commands.some((command) =>
      command.endsWith(
        'route replace 10.244.1.0/24 via 192.0.2.2 proto 117\nroute replace 10.244.2.0/24 via 192.0.2.3 proto 117\n',
      ),
    ),
    true,
  )
})

const refused: readonly [what: string, failing: string, range: string, message: string][] = [
  ['the route to a node', 'via 192.0.2.2', '10.244.1.0/24', 'ip: Error: refused.'],
  ['the tunnel to a node', 'dst 198.51.100.3', '10.244.3.0/24', 'bridge: Error: refused.'],
  ['the neighbour for a node', 'neigh replace 10.244.3.0', '10.244.3.0/24', 'ip: Error: refused.'],
]

for (const [what, failing, range, message] of refused)
  test(`the kernel does not accept ${what}: the paths to others are set`, async () => {
    const { network, commands } = newNetwork(failing)
    const { routes, tunnels } = tunnelled(3)
    const failed = await network.setPaths({ routes: [direct(1), direct(2), ...routes], tunnels }, signal)
    deepEqual([...failed], [[range, message]])
    const text = commands.join('\n')
    equal(text.includes('route replace 10.244.2.0/24 via 192.0.2.3'), true)
    equal(text.includes('route replace 10.244.3.0/24'), range !== '10.244.3.0/24')
  })
