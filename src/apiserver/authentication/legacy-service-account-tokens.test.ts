// Tokens in Secrets: the account of each, and what invalidates them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { objectFrom } from '../../api/kind/kind.harness.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { KeyPair } from '../../platform/crypto/crypto.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { AccountKeys } from './account-keys.ts'
import { legacyServiceAccountTokens, legacyTokenIssuer } from './legacy-service-account-tokens.ts'
import { CredentialMetrics } from '../metrics/credential-metrics.ts'
import { LegacyTokenUsage } from './legacy-token-usage.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'

const key = nodeCrypto.generateKey()
const home = { namespace: 'default' }
const robot = { ...objectFrom(serviceAccount, { metadata: { name: 'robot', ...home } }) }
const account = { ...robot, metadata: { ...robot.metadata, uid: 'u1' } }
const keysOf = ([signing = key, ...others]: readonly KeyPair[]) =>
  new AccountKeys({ signing, accepted: others.map(({ publicKey }) => nodeCrypto.loadPublicKey(publicKey)) }, nodeCrypto)
const token = legacyTokenIssuer(keysOf([key])).issue({ ...home, account: { name: 'robot', uid: 'u1' }, secret: 's' })

const kept = (content: string, metadata: object = {}): Secret => {
  const object = objectFrom(secret, {
    metadata: { name: 's', ...home, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
    data: { token: btoa(content) },
  })
  return { ...object, metadata: { ...object.metadata, ...metadata } }
}

const used: string[] = []

/** The counters of the last call. */
let metrics = new Metrics()

const ask = (shown: string, inSecret: Secret | undefined, owner: unknown, keys = [key], audiences = ['api']) => {
  metrics = new Metrics()
  const get = (kind: Kind) => (kind.kind === 'Secret' ? inSecret : owner)
  const authenticator = legacyServiceAccountTokens({ get } as unknown as ObjectCaches, {
    keys: keysOf(keys),
    audiences: ['api'],
    crypto: nodeCrypto,
    metrics: new CredentialMetrics(metrics),
    onUse: ({ metadata }) => used.push(metadata.name),
  })
  const answer = authenticator.authenticateToken(shown, audiences, new AbortController().signal)
  if (answer instanceof Promise) throw new Error('it is answered at once')
  return answer.kind === 'authenticated' ? answer.user.name : answer.kind
}

const user = 'system:serviceaccount:default:robot'
const other = { ...account, metadata: { ...account.metadata, uid: 'u2' } }
const cases: [why: string, answer: string, want: string][] = [
  ['the token of its Secret', ask(token, kept(token), account), user],
  ['a malformed token', ask('abc', kept('abc'), account), 'unknown'],
  ['no Secret', ask(token, undefined, account), 'rejected'],
  ['a Secret with another token', ask(token, kept('x'), account), 'rejected'],
  ['a Secret that is being deleted', ask(token, kept(token, { deletionTimestamp: 'now' }), account), 'rejected'],
  [
    'an invalidated token',
    ask(token, kept(token, { labels: { 'kubernetes.io/legacy-token-invalid-since': 'x' } }), account),
    'rejected',
  ],
  ['a Secret of another type', ask(token, { ...kept(token), type: 'Opaque' }, account), 'rejected'],
  ['no account', ask(token, kept(token), undefined), 'rejected'],
  ['an account that was recreated with the same name', ask(token, kept(token), other), 'rejected'],
  ['another key', ask(token, kept(token), account, [nodeCrypto.generateKey()]), 'rejected'],
  ['a token signed with an older key', ask(token, kept(token), account, [nodeCrypto.generateKey(), key]), user],
  ['another audience', ask(token, kept(token), account, [key], ['vault']), 'rejected'],
]
for (const [why, answer, want] of cases)
  test(`legacy token, ${why}: ${want}`, () => {
    equal(answer, want)
  })

test('only accepted tokens are recorded as used', () =>
  equal(used.length, cases.filter(([, answer]) => answer === user).length))

test('a use is recorded once a day', async () => {
  const clock = new VirtualClock(Date.UTC(2030, 0, 31, 23, 59))
  const uses = new LegacyTokenUsage(clock)
  uses.record(kept(token))
  uses.record(kept(token, { labels: { 'kubernetes.io/legacy-token-last-used': '2030-01-30' } }))
  equal(uses.queue.depth, 1)
  await uses.queue.take(new AbortController().signal)
  uses.queue.done('default/s')
  const today = kept(token, { labels: { 'kubernetes.io/legacy-token-last-used': '2030-01-31' } })
  uses.record(today)
  equal(uses.queue.depth, 0)
  await clock.advance('1m')
  uses.record(today)
  equal(uses.queue.depth, 1)
})

const listing = { ...account, secrets: [{ name: 's' }] }
const invalidSince = { labels: { 'kubernetes.io/legacy-token-invalid-since': '2029-01-01' } }
const uses: [what: string, inSecret: Secret, owner: unknown, counted: string[]][] = [
  ['a Secret that a user made', kept(token), account, ['legacy_manual_token_uses', 'legacy_tokens']],
  ['a Secret that the account lists', kept(token), listing, ['legacy_auto_token_uses', 'legacy_tokens']],
  ['an invalid one', kept(token, invalidSince), listing, ['invalid_legacy_auto_token_uses', 'legacy_tokens']],
  ['a Secret with another token', kept('x'), account, []],
]
for (const [what, inSecret, owner, counted] of uses)
  test(`the use of ${what} is counted`, () => {
    ask(token, inSecret, owner)
    const shown = [...metrics.text().matchAll(/^serviceaccount_(\w+)_total 1$/gm)].map(([, name]) => name)
    deepEqual(shown, counted)
  })
