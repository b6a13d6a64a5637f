import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeRangesOf, type NodeRangeFlagValues } from './node-ranges.ts'

const unless = { isOn: true, clusterCidr: '10.244.0.0/16' }

const given: [flags: NodeRangeFlagValues, ranges: [cidr: string, maskSize: number][]][] = [
  [{}, [['10.244.0.0/16', 24]]],
  [{ 'allocate-node-cidrs': 'false', 'cluster-cidr': 'x' }, []],
  [{ 'cluster-cidr': '10.0.0.0/8', 'node-cidr-mask-size': '20' }, [['10.0.0.0/8', 20]]],
  [
    { 'cluster-cidr': '10.0.0.0/16,fd00::/56', 'node-cidr-mask-size-ipv6': '72' },
    [
      ['10.0.0.0/16', 24],
      ['fd00::/56', 72],
    ],
  ],
]
for (const [flags, ranges] of given)
  test(`${JSON.stringify(flags)} gives ${JSON.stringify(ranges)}`, () => {
    deepEqual(
      nodeRangesOf(flags, unless).ranges.map(({ cidr, maskSize }) => [cidr, maskSize]),
      ranges,
    )
  })

const refused: [flags: NodeRangeFlagValues, why: RegExp][] = [
  [{ 'allocate-node-cidrs': 'yes' }, /neither true nor false/],
  [{ 'cluster-cidr': '' }, /--allocate-node-cidrs needs --cluster-cidr/],
  [{ 'cluster-cidr': '10.244.0.0' }, /must be a valid CIDR value/],
  [{ 'cluster-cidr': '10.0.0.0/16,10.1.0.0/16' }, /more than one range of a family/],
  [{ 'node-cidr-mask-size': '8' }, /--node-cidr-mask-size 8 is no number from 16 to 32/],
  [{ 'cluster-cidr': 'fd00::/32' }, /--node-cidr-mask-size 64 is no number from 32 to 48/],
]
for (const [flags, why] of refused)
  test(`${JSON.stringify(flags)} is refused`, () => {
    throws(() => nodeRangesOf(flags, unless), why)
  })
