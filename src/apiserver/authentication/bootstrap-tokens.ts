// Bootstrap tokens: credentials of machines that join the cluster. Each is a Secret in kube-system.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { userWithName } from '../request/request.ts'
import { authenticated, commonAudiences, rejected, unknown, type TokenAuthenticator } from './authenticator.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const groupOfAll = 'system:bootstrappers'

export const bootstrapTokens = (
  caches: ObjectCaches,
  ownAudiences: readonly string[],
  clock: Clock,
  crypto: CryptoProvider,
): TokenAuthenticator => ({
  name: 'bootstrapTokens',
  authenticateToken(token, audiences) {
    const [, id, shown] = tokenPattern.exec(token) ?? []
    if (id === undefined || shown === undefined) return unknown
    const stored = caches.get(secret, 'kube-system', `bootstrap-token-${id}`)
    if (stored === undefined || stored.metadata.deletionTimestamp !== undefined)
      return rejected('no such bootstrap token')
    const value = (key: string) => new TextDecoder().decode(Uint8Array.fromBase64(lookup(stored.data, key) ?? ''))
    const digest = (text: string) => crypto.sha256(text)
    const isRight =
      stored.type === 'bootstrap.kubernetes.io/token' &&
      value('token-id') === id &&
      crypto.timingSafeEqual(digest(value('token-secret')), digest(shown))
    if (!isRight) return rejected('the bootstrap token is not valid')
    const expiration = value('expiration')
    if (expiration !== '' && !(Date.parse(expiration) > clock.nowMs()))
      return rejected('the bootstrap token has expired')
    if (value('usage-bootstrap-authentication') !== 'true')
      return rejected('the bootstrap token is not meant for authentication')
    const extraGroups = value('auth-extra-groups')
      .split(',')
      .filter((group) => group !== '')
    if (!extraGroups.every((group) => groupPattern.test(group)))
      return rejected('the groups of the bootstrap token are not valid')
    const common = commonAudiences(audiences, ownAudiences)
    if (common.length === 0) return rejected('the token is not meant for these audiences')
    return authenticated(userWithName(`system:bootstrap:${id}`, [groupOfAll, ...extraGroups]), common)
  },
})
