import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordType } from '../message/record.ts'
import { ClusterZone } from './cluster-zone.ts'
import { answerText, lookUp, namedPort, serviceOf, sliceOf, zoneOf } from './zone.harness.ts'

const web = serviceOf('web', { clusterIP: '10.96.0.10', ports: [namedPort('http', 80), namedPort('dns', 53, 'UDP')] })
const plain = serviceOf('plain', { clusterIP: '10.96.0.11', ports: [namedPort('', 80)] })
const dual = serviceOf('dual', {
  clusterIP: '10.96.0.12',
  clusterIPs: ['10.96.0.12', 'fd00:0:0::c'],
  ports: [namedPort('http', 80)],
})
const headless = serviceOf('peers', { clusterIP: 'None', ports: [namedPort('http', 80)] })
const peers = sliceOf('peers', [
  { addresses: ['10.0.0.1'], hostname: 'peers-0', conditions: { ready: true } },
  { addresses: ['10.0.0.2'], conditions: {} },
  { addresses: ['10.0.0.3'], conditions: { ready: false } },
])
const peersV6 = sliceOf('peers', ['fd00::1'], { name: 'peers-v6' })
const empty = serviceOf('empty', { clusterIP: 'None', ports: [namedPort('http', 80)] })
const portless = serviceOf('portless', { clusterIP: 'None' })
const portlessSlice = sliceOf('portless', ['10.0.0.9'], { ports: [] })
const external = (name: string, externalName: string) => serviceOf(name, { type: 'ExternalName', externalName })
const dns = serviceOf('kube-dns', { clusterIP: '10.96.0.2' }, 'kube-system')

const zone = zoneOf(
  ...[web, plain, dual, headless, peers, peersV6, empty, portless, portlessSlice, dns],
  ...[sliceOf('web', [{ addresses: ['10.0.0.7'], hostname: 'named' }, '10.0.0.8']), sliceOf('orphan', ['10.0.0.99'])],
  ...[external('outside', 'WWW.Example.com.'), external('inside', 'web.default.svc.cluster.local')],
  ...[external('dangling', 'missing.default.svc.cluster.local'), external('address', '192.0.2.1')],
  ...[external('one', 'two.default.svc.cluster.local'), external('two', 'one.default.svc.cluster.local')],
)

const peersA = ['peers.default.svc.cluster.local 30 A 10.0.0.1', 'peers.default.svc.cluster.local 30 A 10.0.0.2']

const rows: readonly [string, string, readonly string[]][] = [
  ['the address of a Service', 'web.default A', ['web.default.svc.cluster.local 30 A 10.96.0.10']],
  ['no address of the other family', 'web.default AAAA', ['no-data']],
  ['no records of another type', 'web.default MX', ['no-data']],
  ['both families', 'dual.default AAAA', ['dual.default.svc.cluster.local 30 AAAA fd00::c']],
  ['a Service that does not exist', 'missing.default A', ['no-name']],
  ['a Service of which only endpoints exist', 'orphan.default A', ['no-name']],
  [
    'a named port',
    '_http._tcp.web.default SRV',
    [
      '_http._tcp.web.default.svc.cluster.local 30 SRV 0 100 80 web.default.svc.cluster.local',
      '+ web.default.svc.cluster.local 30 A 10.96.0.10',
    ],
  ],
  ['a named port of another protocol', '_http._udp.web.default SRV', ['no-name']],
  [
    'the addresses at the name of a port',
    '_dns._udp.web.default A',
    ['_dns._udp.web.default.svc.cluster.local 30 A 10.96.0.10'],
  ],
  ['a port that does not exist', '_https._tcp.web.default SRV', ['no-name']],
  ['an unnamed port has no name', '_._tcp.plain.default SRV', ['no-name']],
  ['a name between port and Service', '_tcp.web.default SRV', ['no-data']],
  ['a protocol without ports', '_sctp.web.default A', ['no-name']],
  [
    'all ports of a Service',
    'web.default SRV',
    [
      'web.default.svc.cluster.local 30 SRV 0 50 80 web.default.svc.cluster.local',
      'web.default.svc.cluster.local 30 SRV 0 50 53 web.default.svc.cluster.local',
      '+ web.default.svc.cluster.local 30 A 10.96.0.10',
    ],
  ],
  [
    'one SRV record for both families',
    '_http._tcp.dual.default SRV',
    [
      '_http._tcp.dual.default.svc.cluster.local 30 SRV 0 100 80 dual.default.svc.cluster.local',
      '+ dual.default.svc.cluster.local 30 A 10.96.0.12',
      '+ dual.default.svc.cluster.local 30 AAAA fd00::c',
    ],
  ],
  ['ready endpoints of a headless Service', 'peers.default A', peersA],
  ['IPv6 endpoints of a headless Service', 'peers.default AAAA', ['peers.default.svc.cluster.local 30 AAAA fd00::1']],
  ['a headless Service without endpoints', 'empty.default A', ['no-name']],
  ['endpoints without ports', 'portless.default A', ['portless.default.svc.cluster.local 30 A 10.0.0.9']],
  ['endpoints without ports have no SRV records', 'portless.default SRV', ['no-data']],
  ['a pod by its hostname', 'peers-0.peers.default A', ['peers-0.peers.default.svc.cluster.local 30 A 10.0.0.1']],
  ['a pod by its address', '10-0-0-2.peers.default A', ['10-0-0-2.peers.default.svc.cluster.local 30 A 10.0.0.2']],
  ['a pod with a hostname has no name of its address', '10-0-0-1.peers.default A', ['no-name']],
  [
    'a pod by its IPv6 address',
    'fd00--1.peers.default AAAA',
    ['fd00--1.peers.default.svc.cluster.local 30 AAAA fd00::1'],
  ],
  ['a pod that is not ready', '10-0-0-3.peers.default A', ['no-name']],
  [
    'an endpoint of a Service with an address',
    'named.web.default A',
    ['named.web.default.svc.cluster.local 30 A 10.0.0.7'],
  ],
  [
    'ports of endpoints',
    '_http._tcp.peers.default SRV',
    [
      '_http._tcp.peers.default.svc.cluster.local 30 SRV 0 33 8080 peers-0.peers.default.svc.cluster.local',
      '_http._tcp.peers.default.svc.cluster.local 30 SRV 0 33 8080 10-0-0-2.peers.default.svc.cluster.local',
      '_http._tcp.peers.default.svc.cluster.local 30 SRV 0 33 8080 fd00--1.peers.default.svc.cluster.local',
      '+ peers-0.peers.default.svc.cluster.local 30 A 10.0.0.1',
      '+ 10-0-0-2.peers.default.svc.cluster.local 30 A 10.0.0.2',
      '+ fd00--1.peers.default.svc.cluster.local 30 AAAA fd00::1',
    ],
  ],
  ['too many labels', 'a._http._tcp.web.default A', ['no-name']],
  [
    'an alias to another zone',
    'outside.default A',
    ['outside.default.svc.cluster.local 30 CNAME www.example.com', 'elsewhere www.example.com'],
  ],
  ['the alias itself', 'outside.default CNAME', ['outside.default.svc.cluster.local 30 CNAME www.example.com']],
  [
    'an alias inside of the zone',
    'inside.default A',
    [
      'inside.default.svc.cluster.local 30 CNAME web.default.svc.cluster.local',
      'web.default.svc.cluster.local 30 A 10.96.0.10',
    ],
  ],
  [
    'an alias to a name that does not exist',
    'dangling.default A',
    ['dangling.default.svc.cluster.local 30 CNAME missing.default.svc.cluster.local', 'no-name'],
  ],
  ['an alias to an address', 'address.default A', ['no-name']],
  ['names below an alias', '_http._tcp.outside.default SRV', ['no-name']],
  ['aliases in a circle', 'one.default A', ['loop']],
  ['a namespace', 'default A', ['no-data']],
  ['a namespace that does not exist', 'missing A', ['no-name']],
  ['the name of all Services', 'svc.cluster.local. A', ['no-data']],
  ['the domain', 'cluster.local. A', ['no-data']],
  ['the authority', 'cluster.local. SOA', ['cluster.local 5 SOA ns.dns.cluster.local hostmaster.cluster.local 5']],
  [
    'the name server',
    'cluster.local. NS',
    ['cluster.local 30 NS ns.dns.cluster.local', '+ ns.dns.cluster.local 30 A 10.96.0.2'],
  ],
  ['the address of the name server', 'ns.dns.cluster.local. A', ['ns.dns.cluster.local 30 A 10.96.0.2']],
  ['the name above the name server', 'dns.cluster.local. A', ['no-data']],
  ['other names beside the name server', 'x.dns.cluster.local. A', ['no-name']],
  ['the version', 'dns-version.cluster.local. TXT', ['dns-version.cluster.local 30 TXT "1.1.0"']],
  ['the version has no address', 'dns-version.cluster.local. A', ['no-data']],
  ['other names in the domain', 'web.cluster.local. A', ['no-name']],
  [
    'a pod by address and namespace',
    '10-1-2-3.default.pod.cluster.local. A',
    ['10-1-2-3.default.pod.cluster.local 30 A 10.1.2.3'],
  ],
  [
    'a pod by IPv6 address and namespace',
    'fd00--7.default.pod.cluster.local. AAAA',
    ['fd00--7.default.pod.cluster.local 30 AAAA fd00::7'],
  ],
  ['a pod has no address of the other family', '10-1-2-3.default.pod.cluster.local. AAAA', ['no-data']],
  ['a pod in a namespace that does not exist', '10-1-2-3.missing.pod.cluster.local. A', ['no-name']],
  ['a pod that is not an address', '10-1-2-300.default.pod.cluster.local. A', ['no-name']],
  ['a name below a pod', 'x.10-1-2-3.default.pod.cluster.local. A', ['no-name']],
  ['pods of a namespace', 'default.pod.cluster.local. A', ['no-data']],
  ['all pods', 'pod.cluster.local. A', ['no-data']],
  [
    'the Service of a cluster IP',
    '10.0.96.10.in-addr.arpa. PTR',
    ['10.0.96.10.in-addr.arpa 30 PTR web.default.svc.cluster.local'],
  ],
  [
    'an endpoint with a hostname',
    '1.0.0.10.in-addr.arpa. PTR',
    ['1.0.0.10.in-addr.arpa 30 PTR peers-0.peers.default.svc.cluster.local'],
  ],
  [
    'an endpoint of a headless Service',
    '2.0.0.10.in-addr.arpa. PTR',
    ['2.0.0.10.in-addr.arpa 30 PTR 10-0-0-2.peers.default.svc.cluster.local'],
  ],
  [
    'an endpoint with a hostname of a Service with an address',
    '7.0.0.10.in-addr.arpa. PTR',
    ['7.0.0.10.in-addr.arpa 30 PTR named.web.default.svc.cluster.local'],
  ],
  ['other endpoints of a Service with an address', '8.0.0.10.in-addr.arpa. PTR', ['elsewhere 8.0.0.10.in-addr.arpa']],
  ['an endpoint that is not ready', '3.0.0.10.in-addr.arpa. PTR', ['elsewhere 3.0.0.10.in-addr.arpa']],
  ['only names of an address', '10.0.96.10.in-addr.arpa. A', ['no-data']],
  ['part of an address', '0.96.10.in-addr.arpa. PTR', ['elsewhere 0.96.10.in-addr.arpa']],
  ['other zones', 'www.example.com. A', ['elsewhere www.example.com']],
  ['a domain with the same end', 'mycluster.local. A', ['elsewhere mycluster.local']],
  ['the root', '. NS', ['elsewhere ']],
]

describe('a zone', () => {
  for (const [name, question, expected] of rows)
    test(name, () => {
      assert.deepEqual(lookUp(zone, question), expected)
    })

  test('an IPv6 address in reverse', () => {
    const digits = 'fd00000000000000000000000000000c'
    const name = `${digits.split('').toReversed().join('.')}.ip6.arpa`
    assert.deepEqual(lookUp(zone, `${name}. PTR`), [`${name} 30 PTR dual.default.svc.cluster.local`])
    assert.deepEqual(lookUp(zone, `${name.slice(2)}. PTR`), [`elsewhere ${name.slice(2)}`])
  })
})

describe('a changed zone', () => {
  const question = 'peers.default A'
  const addressesOf = (changed: ClusterZone) => lookUp(changed, question).map((text) => text.split(' ').at(-1))

  test('an endpoint that was added and removed', () => {
    const changed = zoneOf(headless, sliceOf('peers', ['10.0.0.1']))
    changed.setEndpointSlice(sliceOf('peers', ['10.0.0.1']), sliceOf('peers', ['10.0.0.1', '10.0.0.2']))
    assert.deepEqual(addressesOf(changed), ['10.0.0.1', '10.0.0.2'])
    changed.setEndpointSlice(sliceOf('peers', ['10.0.0.1', '10.0.0.2']), sliceOf('peers', ['10.0.0.2']))
    assert.deepEqual(addressesOf(changed), ['10.0.0.2'])
    assert.deepEqual(lookUp(changed, '1.0.0.10.in-addr.arpa. PTR'), ['elsewhere 1.0.0.10.in-addr.arpa'])
    changed.setEndpointSlice(sliceOf('peers', ['10.0.0.2']), undefined)
    assert.deepEqual(lookUp(changed, question), ['no-name'])
  })

  test('an endpoint that moves from one slice to another keeps its name', () => {
    const first = sliceOf('peers', ['10.0.0.1'])
    const second = sliceOf('peers', ['10.0.0.1'], { name: 'peers-2' })
    const changed = zoneOf(headless, first, second)
    assert.deepEqual(addressesOf(changed), ['10.0.0.1'])
    changed.setEndpointSlice(first, undefined)
    assert.deepEqual(lookUp(changed, '1.0.0.10.in-addr.arpa. PTR'), [
      '1.0.0.10.in-addr.arpa 30 PTR 10-0-0-1.peers.default.svc.cluster.local',
    ])
  })

  test('an address of more Services than a message has room for', () => {
    const names = Array.from({ length: 2_500 }, (_, index) => `peers-${index}`)
    const shared = zoneOf(
      ...names.flatMap((name) => [serviceOf(name, { clusterIP: 'None' }), sliceOf(name, ['10.0.0.1'])]),
    )
    const found = lookUp(shared, '1.0.0.10.in-addr.arpa. PTR')
    assert.ok(found.length > 1_000 && found.length < 1_100, `${found.length} names`)
  })

  test('a slice that is labelled with another Service', () => {
    const changed = zoneOf(headless, serviceOf('others', { clusterIP: 'None' }), peers)
    changed.setEndpointSlice(peers, {
      ...sliceOf('others', ['10.0.0.5']),
      metadata: { ...peers.metadata, labels: { 'kubernetes.io/service-name': 'others' } },
    })
    assert.deepEqual(lookUp(changed, question), ['no-name'])
    assert.deepEqual(lookUp(changed, 'others.default A'), ['others.default.svc.cluster.local 30 A 10.0.0.5'])
  })

  test('a Service whose endpoints arrive first', () => {
    const changed = zoneOf(peers)
    assert.deepEqual(lookUp(changed, question), ['no-name'])
    changed.setService(undefined, headless)
    assert.deepEqual(lookUp(changed, question), peersA)
  })

  test('a Service with a new address, and a deleted one', () => {
    const changed = zoneOf(web)
    changed.setService(web, serviceOf('web', { clusterIP: '10.96.0.20' }))
    assert.deepEqual(lookUp(changed, 'web.default A'), ['web.default.svc.cluster.local 30 A 10.96.0.20'])
    assert.deepEqual(lookUp(changed, '10.0.96.10.in-addr.arpa. PTR'), ['elsewhere 10.0.96.10.in-addr.arpa'])
    changed.setService(serviceOf('web', { clusterIP: '10.96.0.20' }), undefined)
    assert.deepEqual(lookUp(changed, 'web.default A'), ['no-name'])
    assert.deepEqual(lookUp(changed, '20.0.96.10.in-addr.arpa. PTR'), ['elsewhere 20.0.96.10.in-addr.arpa'])
  })

  test('a deleted namespace', () => {
    const changed = zoneOf()
    changed.setNamespace('default', false)
    assert.deepEqual(lookUp(changed, '10-1-2-3.default.pod.cluster.local. A'), ['no-name'])
  })

  test('every change increases the serial number', () => {
    const changed = zoneOf()
    const serial = () => changed.authority.data.kind === 'authority' && changed.authority.data.serial
    const before = serial()
    changed.setService(undefined, web)
    assert.equal(serial(), Number(before) + 1)
  })

  test('a domain with other letters and several labels', () => {
    const other = new ClusterZone('K8s.Example.ORG')
    other.setService(undefined, web)
    const name = 'web.default.svc.k8s.example.org'
    assert.deepEqual(answerText(other.lookup(name, recordType.A)), [`${name} 30 A 10.96.0.10`])
  })
})
