// The Service of the DNS server: what is published, and what is left alone.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { bindDns, dnsServiceAddress, publishDnsService } from './dns-service.ts'

const called = context(new AbortController().signal)
const serviceRange = mustParseCidr('10.96.0.0/16')
const host = '10.244.0.1'

const addresses: [range: string, expected: string | undefined][] = [
  ['10.96.0.0/12', '10.96.0.10'],
  ['10.43.0.0/16', '10.43.0.10'],
  ['fd00:96::/112', 'fd00:96::a'],
  ['10.43.0.248/29', undefined],
]
for (const [range, expected] of addresses)
  test(`the tenth address of ${range} is ${expected}`, () => equal(dnsServiceAddress(mustParseCidr(range)), expected))

async function withCluster() {
  const cluster = await startCluster({ nodes: 0 })
  const { client } = cluster
  return {
    client,
    as: (user: string) => cluster.as(user),
    publish: (port: number, at = host) => publishDnsService(client, { host: at, port }, serviceRange, called),
    findService: () => client.of(service).find('kube-dns', 'kube-system', called),
    findSlice: () => client.of(endpointSlice).find('kube-dns', 'kube-system', called),
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

test('the Service is at the tenth address, and its slice names the address and port of the server', async () => {
  await using cluster = await withCluster()
  equal(await cluster.findService(), undefined)
  equal(await cluster.publish(5353), true)
  const found = await cluster.findService()
  equal(found?.spec.clusterIP, '10.96.0.10')
  deepEqual(
    found.spec.ports?.map(({ name, protocol, port }) => [name, protocol, port]),
    [
      ['dns', 'UDP', 53],
      ['dns-tcp', 'TCP', 53],
    ],
  )
  equal(found.metadata.labels?.['k8s-app'], 'kube-dns')
  const slice = await cluster.findSlice()
  equal(slice?.metadata.labels?.['kubernetes.io/service-name'], 'kube-dns')
  equal(slice.addressType, 'IPv4')
  deepEqual(
    slice.endpoints?.map((each) => [each.addresses, each.conditions?.ready]),
    [[[host], true]],
  )
  deepEqual(
    slice.ports?.map(({ name, protocol, port }) => [name, protocol, port]),
    [
      ['dns', 'UDP', 5353],
      ['dns-tcp', 'TCP', 5353],
    ],
  )
})

test('publishing again keeps the Service and moves the slice to the new address', async () => {
  await using cluster = await withCluster()
  await cluster.publish(53)
  const before = await cluster.findService()
  const sliceBefore = await cluster.findSlice()
  equal(await cluster.publish(53), true)
  equal((await cluster.findService())?.metadata.resourceVersion, before?.metadata.resourceVersion)
  equal((await cluster.findSlice())?.metadata.resourceVersion, sliceBefore?.metadata.resourceVersion)
  equal(await cluster.publish(5353, '10.244.0.2'), true)
  equal((await cluster.findService())?.metadata.resourceVersion, before?.metadata.resourceVersion)
  const slice = await cluster.findSlice()
  deepEqual(slice?.endpoints?.[0]?.addresses, ['10.244.0.2'])
  equal(slice?.ports?.[0]?.port, 5353)
})

test('two servers may publish at the same time', async () => {
  await using cluster = await withCluster()
  deepEqual(await Promise.all([cluster.publish(53), cluster.publish(53)]), [true, true])
  deepEqual((await cluster.findSlice())?.endpoints?.[0]?.addresses, [host])
})

test('a Service with a selector is left alone', async () => {
  await using cluster = await withCluster()
  const installed = {
    metadata: { name: 'kube-dns', namespace: 'kube-system' },
    spec: { selector: { 'k8s-app': 'other-dns' }, ports: [{ name: 'dns', protocol: 'UDP' as const, port: 53 }] },
  }
  const created = await cluster.client.of(service).create(installed, 'kube-system', called)
  equal(await cluster.publish(53), false)
  equal((await cluster.findService())?.metadata.resourceVersion, created.metadata.resourceVersion)
  equal(await cluster.findSlice(), undefined)
})

test('a user without permission to create the Service gets the error of the API server', async () => {
  await using cluster = await withCluster()
  await rejects(publishDnsService(cluster.as('alice'), { host, port: 53 }, serviceRange, called), {
    code: 403,
  })
})

test('the role allows the DNS server to read what it serves, and nothing else', async () => {
  await using cluster = await withCluster()
  const reader = cluster.as('the-dns')
  await rejects(reader.of(service).list({}, called), { code: 403 })
  await bindDns(cluster.client, 'the-dns', called)
  await bindDns(cluster.client, 'the-dns', called)
  const { rules } = await cluster.client.of(clusterRole).get('coxswain:dns', '', called)
  deepEqual(
    rules?.map(({ resources, verbs }) => [resources, verbs]),
    [
      [
        ['namespaces', 'services'],
        ['list', 'watch'],
      ],
      [['endpointslices'], ['list', 'watch']],
    ],
  )
  const binding = await cluster.client.of(clusterRoleBinding).get('coxswain:dns', '', called)
  deepEqual(
    binding.subjects?.map(({ kind, name }) => [kind, name]),
    [['User', 'the-dns']],
  )
  await reader.of(service).list({}, called)
  await reader.of(endpointSlice).list({}, called)
  await rejects(reader.of(service).delete('kubernetes', 'default', {}, called), { code: 403 })
})

test('in a small range the server chooses the address', async () => {
  const cluster = await startCluster({ nodes: 0 })
  await using _stop = cluster
  equal(await publishDnsService(cluster.client, { host, port: 53 }, mustParseCidr('10.43.0.248/29'), called), true)
  const { spec } = await cluster.client.of(service).get('kube-dns', 'kube-system', called)
  match(spec.clusterIP ?? '', /^10\.(9[6-9]|10\d|11[01])\./)
})
