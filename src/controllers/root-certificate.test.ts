// The ConfigMap kube-root-ca.crt in every namespace.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { silentLog } from '../base/observability/log.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { configMap } from '../api/core/v1/config-map.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { secret } from '../api/core/v1/secret.ts'
import { resourceQuota } from '../api/core/v1/quota/resource-quota.ts'
import { legacyTokenIssuer } from '../apiserver/authentication/legacy-service-account-tokens.ts'
import { publishRootCertificate } from '../cluster/bootstrap/root-certificate.ts'
import { Cluster } from '../cluster/run/cluster.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { adminUser } from '../cluster/client/component-users.ts'
import { buildRequestPolicies } from '../cluster/policy/request-policies.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { MemoryStore } from '../store/memory-store.ts'

test('every namespace has the certificate; it is restored when it is changed or deleted', async () => {
  const ctx = context(new AbortController().signal)
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, accountKey })
  const controllerSettings = { certificateAuthority: () => 'PEM' }
  const store = new MemoryStore(clock)
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  const client = cluster.client('test', adminUser)
  const maps = client.of(configMap)
  const read = async () => (await maps.find('kube-root-ca.crt', 'team', ctx))?.data
  await client.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await clock.advance('1s')
  deepEqual(await read(), { 'ca.crt': 'PEM' })
  await maps.patch('kube-root-ca.crt', 'team', { data: { 'ca.crt': 'other', more: 'x' } }, 'merge', ctx)
  await clock.advance('1s')
  deepEqual(await read(), { 'ca.crt': 'PEM' })
  await maps.delete('kube-root-ca.crt', 'team', {}, ctx)
  await clock.advance('1s')
  deepEqual(await read(), { 'ca.crt': 'PEM' })
  await client.of(namespace).delete('team', '', {}, ctx)
  await clock.advance('10s')
  equal(await client.of(namespace).find('team', '', ctx), undefined)
  await cluster.stop()
})

test('when the authorities are replaced, a change of kube-system reaches every namespace and the Secrets of accounts', async () => {
  const ctx = context(new AbortController().signal)
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies, accountKeys } = buildRequestPolicies({ clock, random, platform: nodePlatform, accountKey })
  let authority = 'old'
  const legacyTokens = legacyTokenIssuer(accountKeys)
  const controllerSettings = { certificateAuthority: () => authority, legacyTokens }
  const store = new MemoryStore(clock)
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  const client = cluster.client('test', adminUser)
  const annotations = { 'kubernetes.io/service-account.name': 'default' }
  const robot = { metadata: { name: 'robot', annotations }, type: 'kubernetes.io/service-account-token' }
  await client.of(secret).create(robot, 'default', ctx)
  await clock.advance('1s')
  const published = async () => [
    ...(await client.of(configMap).list({ fieldSelector: 'metadata.name=kube-root-ca.crt' }, ctx)).items.map(
      ({ data }) => data?.['ca.crt'],
    ),
    atob((await client.of(secret).get('robot', 'default', ctx)).data?.['ca.crt'] ?? ''),
  ]
  const all = (text: string) => ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'robot'].map(() => text)
  deepEqual(await published(), all('old'))
  authority = 'new'
  await publishRootCertificate(client, authority, ctx)
  await clock.advance('1s')
  deepEqual(await published(), all('new'))
  await cluster.stop()
})

test('the certificate is published once a quota has room for it', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const maps = client.of(configMap)
  await clock.advance('1s')
  await client.of(resourceQuota).create({ metadata: { name: 'q' }, spec: { hard: { configmaps: '1' } } })
  await clock.advance('1s')
  await maps.delete('kube-root-ca.crt')
  // The controller or this test takes the only place, depending on which of the two is first.
  await maps.create({ metadata: { name: 'other' } }).catch(() => undefined)
  await clock.advance('10s')
  if ((await maps.find('other')) !== undefined) await maps.delete('other')
  await clock.advance('5m')
  equal((await maps.get('kube-root-ca.crt')).metadata.name, 'kube-root-ca.crt')
})
