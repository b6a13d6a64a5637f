// Bootstrap tokens: what a machine that joins shows before it has a certificate. Each is a Secret in kube-system.
import { lookup } from '../../base/lookup.ts'
import type { Clock } from '../../base/clock.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { CryptoProvider } from '../../platform/crypto.ts'
import type { Caches } from '../policies.ts'
import { userNamed } from '../request.ts'
import { authenticated, commonAudiences, refused, unknown, type TokenAuthenticator } from './authenticator.ts'

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const groupOfAll = 'system:bootstrappers'

export const bootstrapTokens = (
  caches: Caches,
  ownAudiences: readonly string[],
  clock: Clock,
  crypto: CryptoProvider,
): TokenAuthenticator => ({
  name: 'bootstrapTokens',
  authenticateToken(token, audiences) {
    const [, id, shown] = tokenPattern.exec(token) ?? []
    if (id === undefined || shown === undefined) return unknown
    const kept = caches.get(secret, 'kube-system', `bootstrap-token-${id}`)
    if (kept === undefined || kept.metadata.deletionTimestamp !== undefined) return refused('no such bootstrap token')
    const value = (key: string) => new TextDecoder().decode(Uint8Array.fromBase64(lookup(kept.data, key) ?? ''))
    const digest = (text: string) => crypto.sha256(text)
    const isRight =
      kept.type === 'bootstrap.kubernetes.io/token' &&
      value('token-id') === id &&
      crypto.equalInConstantTime(digest(value('token-secret')), digest(shown))
    if (!isRight) return refused('the bootstrap token is not valid')
    const expiration = value('expiration')
    if (expiration !== '' && !(Date.parse(expiration) > clock.nowMs()))
      return refused('the bootstrap token has expired')
    if (value('usage-bootstrap-authentication') !== 'true')
      return refused('the bootstrap token is not meant for authentication')
    const extraGroups = value('auth-extra-groups')
      .split(',')
      .filter((group) => group !== '')
    if (!extraGroups.every((group) => groupPattern.test(group)))
      return refused('the groups of the bootstrap token are not valid')
    const common = commonAudiences(audiences, ownAudiences)
    if (common.length === 0) return refused('the token is not meant for these audiences')
    return authenticated(userNamed(`system:bootstrap:${id}`, [groupOfAll, ...extraGroups]), common)
  },
})
