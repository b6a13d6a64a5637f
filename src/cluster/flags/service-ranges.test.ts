// The flags of Service ranges: what they accept, as upstream, and upstream's messages.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { familiesOf, kubernetesServiceAddressOf } from '../../apiserver/strategies/service/service-ranges.ts'
import { serviceRangesOf } from './service-ranges.ts'

const cidrs = (text: string) => serviceRangesOf({ 'service-cluster-ip-range': text })
const ports = (text: string) => serviceRangesOf({ 'service-node-port-range': text }).nodePorts

const accepted: [text: string, clusterCidrs: string[], families: string[], address: string][] = [
  ['', ['10.96.0.0/12'], ['IPv4'], '10.96.0.1'],
  ['10.96.0.5/16', ['10.96.0.0/16'], ['IPv4'], '10.96.0.1'],
  ['10.96.0.0/16,fd00:96::/112', ['10.96.0.0/16', 'fd00:96::/112'], ['IPv4', 'IPv6'], '10.96.0.1'],
  ['fd00:96::/112,10.96.0.0/16', ['fd00:96::/112', '10.96.0.0/16'], ['IPv6', 'IPv4'], 'fd00:96::1'],
  ['10.96.0.0/29', ['10.96.0.0/29'], ['IPv4'], '10.96.0.1'],
]
for (const [text, clusterCidrs, families, address] of accepted)
  test(`--service-cluster-ip-range ${text}`, () => {
    const ranges = cidrs(text)
    deepEqual([ranges.clusterCidrs, familiesOf(ranges)], [clusterCidrs, families])
    deepEqual(kubernetesServiceAddressOf(ranges), address)
  })

const rejected: [text: string, message: string][] = [
  ['nothing', 'service-cluster-ip-range[0] is not a valid cidr'],
  ['10.96.0.0/16,nothing', 'service-cluster-ip-range[1] is not a valid cidr'],
  [
    '10.96.0.0/16,10.97.0.0/16',
    '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family',
  ],
  ['10.96.0.0/16,fd00::/112,10.98.0.0/16', '--service-cluster-ip-range must not contain more than two entries'],
  [
    '10.96.0.0/30',
    'error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses',
  ],
]
for (const [text, message] of rejected)
  test(`--service-cluster-ip-range ${text} is rejected`, () => throws(() => cidrs(text), { message }))

test('--service-node-port-range is a range, a port, or a port and a count', () => {
  deepEqual(
    ['', '30000-30010', '30000', '30000+10', '1-65535'].map((text) => Object.values(ports(text))),
    [
      [30_000, 32_767],
      [30_000, 30_010],
      [30_000, 30_000],
      [30_000, 30_010],
      [1, 65_535],
    ],
  )
  throws(() => ports('nothing'), /is not a range of ports/)
  throws(() => ports('30000-70000'), /the port range cannot be greater than 65535: 30000-70000$/)
  throws(() => ports('32000-30000'), /end port cannot be less than start port: 32000-30000$/)
})
