// Tokens in Secrets: ServiceAccount tokens are issued, used and deleted with their account; bootstrap tokens sign and
// expire.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { tokenReview } from '../../api/authentication/v1/token-review.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { context, startCluster, type TestCluster } from '../../cluster/index.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { made, nowMs } from '../runtime/plan.harness.ts'
import { signedData } from './bootstrap-signer.ts'
import { expiryMsOf, signingToken } from './bootstrap-token.ts'
import { legacyTokenCleanerController } from './legacy-token-cleaner.ts'
import { filled } from './service-account-token.ts'
import { start, FakeApi } from '../runtime/fake-api.harness.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'

const ctx = context(new AbortController().signal)
const legacy = 'kubernetes.io/service-account-token'
const annotated = (name: string) => ({ annotations: { 'kubernetes.io/service-account.name': name } })
const plain = (value: string | undefined) => (value === undefined ? undefined : atob(value))

async function userOf({ client }: TestCluster, token: string): Promise<string | undefined> {
  const { status } = await client.of(tokenReview).create({ metadata: {}, spec: { token } }, '', ctx)
  return status?.authenticated ? status.user?.username : undefined
}

test('a Secret gets the token of its account, which is valid as long as the Secret contains it', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const secrets = client.of(secret)
  const accounts = client.of(serviceAccount)
  await accounts.create({ metadata: { name: 'robot' } }, 'default', ctx)
  await secrets.create({ metadata: { name: 'robot-token', ...annotated('robot') }, type: legacy }, 'default', ctx)
  await clock.advance('1s')
  const { data = {}, metadata } = await secrets.get('robot-token', 'default', ctx)
  equal(plain(data['namespace']), 'default')
  const { uid } = (await accounts.get('robot', 'default', ctx)).metadata
  equal(metadata.annotations?.['kubernetes.io/service-account.uid'], uid)
  const token = plain(data['token']) ?? ''
  deepEqual(JSON.parse(atob(token.split('.')[1] ?? '')), {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'robot-token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': uid,
    sub: 'system:serviceaccount:default:robot',
  })
  equal(await userOf(cluster, token), 'system:serviceaccount:default:robot')
  equal(await userOf(cluster, `${token.slice(0, -6)}AAAAAA`), undefined)
  const label = { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2030-01-01' } } }
  await secrets.patch('robot-token', 'default', label, 'merge', ctx)
  equal(await userOf(cluster, token), undefined)
  await secrets.patch('robot-token', 'default', { metadata: { labels: null }, data: { token: null } }, 'merge', ctx)
  await clock.advance('1s')
  const renewed = plain((await secrets.get('robot-token', 'default', ctx)).data?.['token']) ?? ''
  equal(await userOf(cluster, renewed), 'system:serviceaccount:default:robot')
  await secrets.delete('robot-token', 'default', {}, ctx)
  equal(await userOf(cluster, renewed), undefined)
})

test('a token Secret is deleted with its account, and at once if the account does not exist', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const secrets = client.of(secret)
  const accounts = client.of(serviceAccount)
  const names = async () =>
    (await secrets.list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)
  const make = (name: string, account: string) =>
    secrets.create({ metadata: { name, ...annotated(account) }, type: legacy }, 'default', ctx)
  await accounts.create({ metadata: { name: 'robot' } }, 'default', ctx)
  await make('kept', 'robot')
  await make('astray', 'missing')
  await clock.advance('1s')
  deepEqual(await names(), ['kept'])
  const token = plain((await secrets.get('kept', 'default', ctx)).data?.['token']) ?? ''
  await accounts.delete('robot', 'default', {}, ctx)
  // The token is not valid for another account of the same name.
  await accounts.create({ metadata: { name: 'robot' } }, 'default', ctx)
  equal(await userOf(cluster, token), undefined)
  await clock.advance('1s')
  deepEqual(await names(), [])
})

test('existing data in a Secret is kept, except the certificate authority, which is updated', () => {
  const account = made(serviceAccount, 'robot', {})
  const data = { 'ca.crt': base64Text('OLD'), namespace: base64Text('elsewhere'), more: base64Text('x') }
  const object = made(secret, 's', { metadata: annotated('robot'), type: legacy, data })
  const legacyTokens = { issue: () => 'TOKEN' }
  const next = filled(object, account, { certificateAuthority: () => 'PEM', legacyTokens })
  deepEqual(Object.fromEntries(Object.entries(next?.data ?? {}).map(([name, value]) => [name, atob(value)])), {
    'ca.crt': 'PEM',
    namespace: 'elsewhere',
    more: 'x',
    token: 'TOKEN',
  })
  equal(filled(next ?? object, account, { certificateAuthority: () => 'PEM', legacyTokens }), undefined)
  equal(filled(object, account, { certificateAuthority: () => 'PEM' }), undefined)
})

const bootstrap = (id: string, fields: Readonly<Record<string, string>> = {}): Secret =>
  made(secret, `bootstrap-token-${id}`, {
    metadata: { namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(
      Object.entries({
        'token-id': id,
        'token-secret': 's'.repeat(16),
        'usage-bootstrap-signing': 'true',
        ...fields,
      }).map(([name, value]) => [name, base64Text(value)]),
    ),
  })

const tokens: [why: string, object: Secret, signs: boolean][] = [
  ['that is complete', bootstrap('abcdef'), true],
  ['that has not expired', bootstrap('abcdef', { expiration: rfc3339(nowMs + 1000) }), true],
  ['that has expired', bootstrap('abcdef', { expiration: rfc3339(nowMs) }), false],
  ['with an invalid expiration', bootstrap('abcdef', { expiration: 'soon' }), false],
  ['without the signing usage', bootstrap('abcdef', { 'usage-bootstrap-signing': 'no' }), false],
  ['whose name does not match its id', bootstrap('abcdef', { 'token-id': 'fedcba' }), false],
  ['without a secret', bootstrap('abcdef', { 'token-secret': '' }), false],
]
for (const [why, object, signs] of tokens)
  test(`a bootstrap token ${why} ${signs ? 'signs' : 'does not sign'}`, () => {
    equal(signingToken(object, nowMs) !== undefined, signs)
  })

test('cluster-info has one signature for each token, and none of deleted tokens', () => {
  const info = made(configMap, 'cluster-info', { data: { kubeconfig: 'K', 'jws-kubeconfig-gone00': 'x', other: 'y' } })
  const data = signedData(info, [{ id: 'abcdef', secret: 'secret' }], nodeCrypto)
  const { 'jws-kubeconfig-abcdef': signature = '', ...rest } = data
  deepEqual(rest, { kubeconfig: 'K', other: 'y' })
  const [header = '', content, shown] = signature.split('.')
  equal(content, '')
  equal(atob(header), '{"alg":"HS256","kid":"abcdef"}')
  const whole = `${header}.${Buffer.from('K').toString('base64url')}`
  equal(shown, createHmac('sha256', 'secret').update(whole).digest('base64url'))
  deepEqual(signedData({ ...info, data: {} }, [{ id: 'abcdef', secret: 's' }], nodeCrypto), {})
  equal(expiryMsOf(bootstrap('abcdef')), Infinity)
})

test('signatures are added and removed with the tokens, and expired tokens are deleted', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const info = async () =>
    Object.keys((await client.of(configMap).get('cluster-info', 'kube-public', ctx)).data ?? {}).toSorted()
  await client
    .of(configMap)
    .create({ metadata: { name: 'cluster-info' }, data: { kubeconfig: 'K' } }, 'kube-public', ctx)
  const expiration = rfc3339(clock.nowMs() + 60_000)
  for (const [id, fields] of [
    ['aaaaaa', {}],
    ['bbbbbb', { expiration }],
  ] as const) {
    const { metadata, ...object } = bootstrap(id, fields)
    await client.of(secret).create({ ...object, metadata: { name: metadata.name } }, 'kube-system', ctx)
  }
  await clock.advance('1s')
  deepEqual(await info(), ['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', 'kubeconfig'])
  await clock.advance('1m')
  deepEqual(await info(), ['jws-kubeconfig-aaaaaa', 'kubeconfig'])
  equal(await client.of(secret).find('bootstrap-token-bbbbbb', 'kube-system', ctx), undefined)
  ok(await client.of(secret).find('bootstrap-token-aaaaaa', 'kube-system', ctx))
  match(
    (await client.of(configMap).get('cluster-info', 'kube-public', ctx)).data?.['jws-kubeconfig-aaaaaa'] ?? '',
    /^\S+\.\.\S+$/,
  )
})

test('the use of a token is recorded, and the reference to a deleted Secret is removed from its account', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const secrets = client.of(secret)
  const accounts = client.of(serviceAccount)
  const tracking = 'kube-apiserver-legacy-service-account-token-tracking'
  deepEqual((await client.of(configMap).get(tracking, 'kube-system', ctx)).data, { since: '2030-01-01' })
  await accounts.create({ metadata: { name: 'robot' }, secrets: [{ name: 'used' }, { name: 'other' }] }, 'default', ctx)
  await secrets.create({ metadata: { name: 'used', ...annotated('robot') }, type: legacy }, 'default', ctx)
  await clock.advance('1s')
  const made1 = await secrets.get('used', 'default', ctx)
  equal(made1.metadata.labels, undefined)
  ok(await userOf(cluster, plain(made1.data?.['token']) ?? ''))
  await clock.advance('1s')
  const recorded = await secrets.get('used', 'default', ctx)
  deepEqual(recorded.metadata.labels, { 'kubernetes.io/legacy-token-last-used': '2030-01-01' })
  await secrets.delete('used', 'default', {}, ctx)
  await clock.advance('1s')
  deepEqual((await accounts.get('robot', 'default', ctx)).secrets, [{ name: 'other' }])
})

test('auto-generated tokens are invalidated after a year without use, and deleted after another', async () => {
  const api = new FakeApi()
  const isRequested = (what: string) => api.requests.includes(what)
  const kinds: readonly Kind[] = [secret, serviceAccount, pod, configMap]
  const [secretKind, accountKind, podKind, mapKind] = kinds as [Kind, Kind, Kind, Kind]
  const names = ['stale', 'used', 'mounted', 'young']
  const secrets = names.map((name) => ({ name }))
  api.add(accountKind, { name: 'robot' }, 'default', { secrets })
  const body = { type: legacy }
  const old = { creationTimestamp: '2029-06-01T00:00:00Z', ...annotated('robot') }
  api.add(secretKind, { name: 'stale', ...old }, 'default', body)
  const label = { 'kubernetes.io/legacy-token-last-used': '2030-12-24' }
  api.add(secretKind, { name: 'used', ...old, labels: label }, 'default', body)
  api.add(secretKind, { name: 'mounted', ...old }, 'default', body)
  api.add(secretKind, { name: 'young', ...old, creationTimestamp: '2030-12-24T00:00:00Z' }, 'default', body)
  api.add(secretKind, { name: 'by-hand', ...old }, 'default', body)
  const spec = { containers: [], volumes: [{ name: 'v', secret: { secretName: 'mounted' } }] }
  api.add(podKind, { name: 'p' }, 'default', { spec })
  const tracking = 'kube-apiserver-legacy-service-account-token-tracking'
  api.add(mapKind, { name: tracking }, 'kube-system', { data: { since: '2030-01-01' } })
  await using running = start(legacyTokenCleanerController, api, Date.UTC(2031, 0, 1, 12))
  await running.settle('1h')
  deepEqual(api.requests, [], 'uses have been recorded for less than a year')
  await running.settle('25h')
  deepEqual(api.requests, ['patch Secret stale'])
  equal(api.find(secretKind, 'stale')?.metadata.labels?.['kubernetes.io/legacy-token-invalid-since'], '2031-01-02')
  await running.settle(364 * 86_400_000)
  ok(api.find(secretKind, 'stale'), 'it is kept for another year')
  api.requests.length = 0
  await running.settle(3 * 86_400_000)
  ok(isRequested('delete Secret stale'))
  equal(api.names(secretKind), 'used mounted young by-hand')
})
