// Keys of ServiceAccount tokens that are replaced while the server runs: what signs, what is accepted, what is published.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { KeyPair } from '../../platform/crypto/crypto.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { CredentialMetrics } from '../metrics/credential-metrics.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'
import { AccountKeys } from './account-keys.ts'
import { parseToken } from './json-web-token.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'

const issuer = 'https://cluster.test'
const publicOf = ({ publicKey }: KeyPair) => nodeCrypto.loadPublicKey(publicKey)

function start(signing: KeyPair) {
  const keys = new AccountKeys({ signing, accepted: [] }, nodeCrypto)
  const tokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    keys,
    clock: new VirtualClock(),
    random: seededRandom(1),
    crypto: nodeCrypto,
    metrics: new CredentialMetrics(new Metrics()),
  })
  const caches = { get: () => ({ metadata: { uid: 'u' } }) } as unknown as ObjectCaches
  const authenticator = tokens.authenticator(caches)
  return {
    keys,
    issue: () =>
      tokens.issue({ holder: { namespace: 'a', account: { name: 'b', uid: 'u' } }, audiences: [issuer], seconds: 600 }),
    async use(token: string) {
      const answer = await authenticator.authenticateToken(token, [issuer], new AbortController().signal)
      return answer.kind === 'rejected' ? answer.reason : answer.kind
    },
    published: () =>
      (tokens.keySet as { readonly keys: readonly { readonly kid: string }[] }).keys.map(({ kid }) => kid),
  }
}

test('a token of the old key is accepted until the key is retired, also one that was used before', async () => {
  const [old, next] = [nodeCrypto.generateKey(), nodeCrypto.generateKey()]
  const server = start(old)
  const [used, unused] = [server.issue(), server.issue()]
  equal(await server.use(used), 'authenticated')
  const { signingId: oldId } = server.keys
  deepEqual(server.published(), [oldId])

  server.keys.replace({ signing: next, accepted: [publicOf(old)] })
  const fresh = server.issue()
  const { signingId } = server.keys
  notEqual(signingId, oldId)
  equal(parseToken(fresh)?.keyId, signingId)
  deepEqual(server.published(), [signingId, oldId])
  for (const token of [used, unused, fresh]) equal(await server.use(token), 'authenticated')

  server.keys.replace({ signing: next, accepted: [] })
  deepEqual(server.published(), [signingId])
  equal(await server.use(fresh), 'authenticated')
  for (const token of [used, unused]) match(await server.use(token), /the signature .* is not valid/)
})

test('tokens of the next key are accepted before it signs', async () => {
  const [old, next] = [nodeCrypto.generateKey(), nodeCrypto.generateKey()]
  const [first, second] = [start(old), start(old)]
  first.keys.replace({ signing: old, accepted: [publicOf(next)] })
  second.keys.replace({ signing: next, accepted: [publicOf(old)] })
  equal(await first.use(second.issue()), 'authenticated')
  equal(await second.use(first.issue()), 'authenticated')
})
