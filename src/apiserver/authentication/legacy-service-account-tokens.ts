// Legacy ServiceAccount tokens: JWTs without expiry that are stored in Secrets and valid as long as the Secret contains them.
import { lookup } from '../../base/collections/lookup.ts'
import { isTokenSecret, tokenInvalidSince, tokenOf } from '../../api/core/v1/account-token-secret.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { CredentialMetrics } from '../metrics/credential-metrics.ts'
import { serviceAccountGroups, serviceAccountUser } from '../request/user-names.ts'
import type { AccountKeys } from './account-keys.ts'
import { authenticated, commonAudiences, rejected, unknown, type TokenAuthenticator } from './authenticator.ts'
import { isSignedBy, parseToken, signToken } from './json-web-token.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'

const issuer = 'kubernetes/serviceaccount'
const claim = (name: string) => `${issuer}/${name}`.replace('kubernetes/', 'kubernetes.io/')

export interface LegacyHolder {
  readonly namespace: string
  readonly account: { readonly name: string; readonly uid: string }
  readonly secret: string
}

/** Issues the tokens; a controller stores them in Secrets. */
export const legacyTokenIssuer = (keys: AccountKeys) => ({
  issue({ namespace, account, secret: secretName }: LegacyHolder): string {
    const claims = {
      iss: issuer,
      [claim('namespace')]: namespace,
      [claim('secret.name')]: secretName,
      [claim('service-account.name')]: account.name,
      [claim('service-account.uid')]: account.uid,
      sub: serviceAccountUser(namespace, account.name),
    }
    return signToken(claims, keys.signingId, keys.signing)
  },
})

export interface LegacyTokenDeps {
  readonly keys: AccountKeys
  readonly audiences: readonly string[]
  readonly crypto: CryptoProvider
  readonly metrics: CredentialMetrics
  /** Called with the Secret of an accepted token. */
  readonly onUse: (stored: Secret) => void
}

export const legacyServiceAccountTokens = (caches: ObjectCaches, deps: LegacyTokenDeps): TokenAuthenticator => ({
  name: 'legacyServiceAccounts',
  authenticateToken(token, requested) {
    const parsed = parseToken(token)
    if (parsed === undefined || parsed.claims['iss'] !== issuer) return unknown
    const text = (name: string): string => {
      const value = lookup(parsed.claims, claim(name))
      return typeof value === 'string' ? value : ''
    }
    const namespace = text('namespace')
    const name = text('service-account.name')
    const uid = text('service-account.uid')
    const stored = caches.get(secret, namespace, text('secret.name'))
    if (parsed.claims['sub'] !== serviceAccountUser(namespace, name)) return rejected('the token names another subject')
    if (stored === undefined || !isCurrent(stored, token, deps.crypto))
      return rejected('service account token has been invalidated')
    const account = caches.get(serviceAccount, namespace, name)
    if (account === undefined || account.metadata.uid !== uid)
      return rejected('service account token has been invalidated')
    if (!isSignedBy(parsed, deps.keys.accepted.values()))
      return rejected('the signature of the service account token is not valid')
    if (tokenInvalidSince(stored) !== undefined) {
      deps.metrics.legacyTokenUsed('invalid')
      return rejected('service account token has been invalidated')
    }
    const audiences = commonAudiences(requested, deps.audiences)
    if (audiences.length === 0) return rejected('the token is not meant for these audiences')
    deps.metrics.legacyTokenUsed(
      account.secrets?.some((each) => each.name === stored.metadata.name) ? 'auto' : 'manual',
    )
    deps.onUse(stored)
    const user = { name: serviceAccountUser(namespace, name), uid, groups: serviceAccountGroups(namespace), extra: {} }
    return authenticated(user, audiences)
  },
})

function isCurrent(stored: Secret, token: string, crypto: CryptoProvider): boolean {
  const digest = (text: string) => crypto.sha256(text)
  return (
    isTokenSecret(stored) &&
    stored.metadata.deletionTimestamp === undefined &&
    crypto.timingSafeEqual(digest(tokenOf(stored)), digest(token))
  )
}
