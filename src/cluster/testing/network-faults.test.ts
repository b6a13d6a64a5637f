// Which packets the faults of links apply to, and invalid faults.
import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkFault, NetworkHost } from '../../machine/network/link-faults.ts'
import { lossyLinkFault, partitionFault, slowLinkFault } from './network-faults.ts'

const hosts: Readonly<Record<string, NetworkHost>> = {
  a: { address: '10.0.0.1', pod: 'default/a', node: 'node-0' },
  b: { address: '10.0.1.1', pod: 'default/b', node: 'node-1' },
  c: { address: '10.0.2.1', pod: 'default/c', node: 'node-2' },
}
const isEndpoint = (service: string, address: string) => service === 'default/web' && address === '10.0.1.1'
const slow = (link: object) => slowLinkFault({ ms: 1, ...link }, isEndpoint)
const split = (...groups: readonly (readonly string[])[]) => partitionFault(groups, isEndpoint)

const rows: readonly (readonly [name: string, fault: LinkFault, packets: string])[] = [
  ['a link without places is every link', slow({}), 'ab ac ba bc ca cb'],
  ['a link from a pod has one direction', slow({ from: 'pod/a' }), 'ab ac'],
  ['a link to a Service ends at its endpoints', slow({ to: 'service/web' }), 'ab cb'],
  ['a link between two places', slow({ from: 'node/node-0', to: 'pod/default/b' }), 'ab'],
  ['a partition separates in both directions', split(['pod/a'], ['node/node-1']), 'ab ba'],
  ['three groups are separated pairwise', split(['pod/a'], ['pod/b'], ['pod/c']), 'ab ac ba bc ca cb'],
]
for (const [name, fault, packets] of rows)
  test(name, () => {
    const pairs = Object.keys(hosts).flatMap((from) => Object.keys(hosts).map((to) => [from, to] as const))
    const found = pairs.filter(
      ([from, to]) => from !== to && fault.matches(hosts[from] as NetworkHost, hosts[to] as NetworkHost),
    )
    equal(found.map((pair) => pair.join('')).join(' '), packets)
  })

test('invalid faults are rejected', () => {
  throws(() => slow({ ms: -1 }), /the delay of a link is -1 ms; it must not be negative/)
  throws(() => lossyLinkFault({ share: 2 }, isEndpoint), /the share of lost packets is 2; it must be from 0 to 1/)
  throws(() => split(['pod/a']), /a partition has at least two groups/)
  throws(() => slow({ to: 'web' }), /"web" is not a place in the network/)
})
