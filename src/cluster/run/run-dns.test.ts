// A DNS server in its own process, over HTTPS, with the permissions that docs/dns.md names, asked by the resolver of
// Node.js (c-ares).
import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import type { Client } from '../../client/client.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { adminUser } from '../client/component-users.ts'
import { read } from './component-server.harness.ts'
import { addressesOf, runDns } from './run-dns.ts'
import { serveCluster } from './served-cluster.harness.ts'

const ctx = context(new AbortController().signal)

/** A kubeconfig with the token of an account that may only read what the zone consists of. */
async function restrictedKubeconfig(client: Client, kubeconfig: string): Promise<string> {
  const verbs = ['list', 'watch']
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'services'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ]
  await client.of(clusterRole).create({ metadata: { name: 'system:coredns' }, rules }, '', ctx)
  await client.of(serviceAccount).create({ metadata: { name: 'coredns' } }, 'kube-system', ctx)
  const subjects = [{ kind: 'ServiceAccount', name: 'coredns', namespace: 'kube-system' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' }
  await client.of(clusterRoleBinding).create({ metadata: { name: 'system:coredns' }, subjects, roleRef }, '', ctx)
  const accounts = client.of(serviceAccount)
  const requested = await accounts.createSubresource('coredns', 'kube-system', 'token', { spec: {} }, ctx)
  const { token } = (requested as { status: { token: string } }).status
  return kubeconfig.replace(/ +client-certificate-data:.*\n +client-key-data:.*\n/, `    token: ${token}\n`)
}

const ownAddresses: readonly (readonly [name: string, listens: Parameters<typeof addressesOf>[0], own: RegExp])[] = [
  ['of one address', { hosts: ['10.0.0.7'], port: 53 }, /^10\.0\.0\.7$/],
  ['of all IPv4 addresses', { hosts: ['0.0.0.0'], port: 53 }, /(?:^|,)127\.0\.0\.1(?:,|$)/],
  ['of all addresses', { hosts: ['10.0.0.7', '::'], port: 53 }, /(?:^|,)127\.0\.0\.1(?:,|$)/],
  ['at another port, which no resolv.conf names', { hosts: ['10.0.0.7'], port: 5353 }, /^$/],
]

for (const [name, listens, own] of ownAddresses)
  test(`a resolv.conf refers to the server itself by the addresses ${name}`, () =>
    assert.match(addressesOf(listens).join(), own))

test('a separate DNS server serves any cluster with few permissions', { timeout: 60_000 }, async () => {
  await using served = await serveCluster({ nodes: 0 })
  const client = served.cluster.client('test', adminUser)
  const ports = [{ name: 'http', port: 80 }]
  await client
    .of(service)
    .create({ metadata: { name: 'web' }, spec: { clusterIP: '10.96.7.7', ports } }, 'default', ctx)
  await client.of(service).create({ metadata: { name: 'peers' }, spec: { clusterIP: 'None', ports } }, 'default', ctx)
  const stop = new AbortController()
  const ready = Promise.withResolvers<readonly Peer[]>()
  const serving = Promise.withResolvers<number>()
  const ended = runDns(
    {
      kubeconfig: await restrictedKubeconfig(client, served.kubeconfig),
      hosts: ['127.0.0.1', '::1'],
      port: 0,
      domain: 'cluster.local',
      resolvConf: '',
      log: silentLog,
      serve: { host: '127.0.0.1', port: 0 },
      onServe: serving.resolve,
      onReady: ready.resolve,
    },
    stop.signal,
  )
  const addresses = await Promise.race([ready.promise, ended.then(() => assert.fail('the server has ended'))])
  for (const { address, port } of addresses) {
    const resolver = new Resolver()
    resolver.setServers([address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`])
    assert.deepEqual(await resolver.resolve4('web.default.svc.cluster.local'), ['10.96.7.7'])
    await assert.rejects(resolver.resolve4('missing.default.svc.cluster.local'), { code: 'ENOTFOUND' })
    await assert.rejects(resolver.resolve4('www.example.com'), { code: 'ESERVFAIL' })
  }
  const [{ address, port } = { address: '', port: 0 }] = addresses
  const resolver = new Resolver()
  resolver.setServers([`${address}:${port}`])
  const slice = {
    metadata: { name: 'peers-1', labels: { 'kubernetes.io/service-name': 'peers' } },
    addressType: 'IPv4' as const,
    endpoints: [
      { addresses: ['10.0.0.5'], hostname: 'peers-0' },
      ...Array.from({ length: 99 }, (_, index) => ({ addresses: [`10.0.1.${index}`] })),
    ],
  }
  await client.of(endpointSlice).create(slice, 'default', ctx)
  const hasEndpoint = async (): Promise<string[]> =>
    resolver.resolve4('peers-0.peers.default.svc.cluster.local').catch(hasEndpoint)
  assert.deepEqual(await hasEndpoint(), ['10.0.0.5'])
  // A hundred addresses do not fit into a datagram, so the resolver repeats the query over TCP.
  assert.equal((await resolver.resolve4('peers.default.svc.cluster.local')).length, 100)
  const second = { kubeconfig: served.kubeconfig, hosts: ['127.0.0.1'], port, onReady: () => {} }
  await assert.rejects(runDns({ ...second, domain: 'cluster.local', resolvConf: '', log: silentLog }, stop.signal), {
    code: 'EADDRINUSE',
  })
  const metricsPort = await serving.promise
  assert.equal((await read(metricsPort, '/healthz')).text, 'ok')
  assert.equal((await read(metricsPort, '/metrics')).status, 401)
  stop.abort()
  await ended
  await assert.rejects(resolver.resolve4('web.default.svc.cluster.local'), { code: 'ECONNREFUSED' })
})
