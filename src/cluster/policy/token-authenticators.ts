// The token authenticators of an API server, in the order in which they run: token file, ServiceAccount, bootstrap, OIDC,
// webhook.
import type { Clock } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import type { TokenAuthenticator } from '../../apiserver/authentication/authenticator.ts'
import { bootstrapTokens } from '../../apiserver/authentication/bootstrap-tokens.ts'
import { legacyServiceAccountTokens } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import type { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import type { CredentialMetrics } from '../../apiserver/metrics/credential-metrics.ts'
import { oidc } from '../../apiserver/authentication/oidc.ts'
import type { ServiceAccountTokens } from '../../apiserver/authentication/service-account-tokens.ts'
import { tokenFile } from '../../apiserver/authentication/token-file.ts'
import { tokenWebhook } from '../../apiserver/authentication/token-webhook.ts'
import type { JsonServer } from '../../apiserver/outbound/outbound-json.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { OutboundServers } from './outbound-servers.ts'
import type { PolicySettings } from './policy-settings.ts'

const issuerTimeoutMs = 10_000
const tokenWebhookTimeoutMs = 30_000

export interface TokenAuthenticatorDeps {
  readonly clock: Clock
  readonly crypto: CryptoProvider
  readonly accountKeys: AccountKeys
  readonly accountTokens: ServiceAccountTokens
  readonly legacyTokenUsage: LegacyTokenUsage
  readonly servers: OutboundServers
  readonly metrics: CredentialMetrics
}

export function tokenAuthenticators(
  settings: PolicySettings,
  caches: ObjectCaches,
  deps: TokenAuthenticatorDeps,
): TokenAuthenticator[] {
  const { clock, crypto, accountKeys, accountTokens, legacyTokenUsage, servers, metrics } = deps
  const audiences = [settings.serviceAccountIssuer]
  const legacyTokens = {
    keys: accountKeys,
    audiences,
    crypto,
    metrics,
    onUse: (secret: Secret) => legacyTokenUsage.record(secret),
  }
  const { tokenWebhook: webhook } = settings
  return [
    ...(settings.tokenFile === '' ? [] : [tokenFile(settings.tokenFile, audiences, crypto)]),
    accountTokens.authenticator(caches),
    legacyServiceAccountTokens(caches, legacyTokens),
    bootstrapTokens(caches, audiences, clock, crypto),
    ...settings.issuers.map((issuer) => {
      const tls = issuer.certificateAuthority === '' ? {} : { authority: issuer.certificateAuthority }
      const connected = new Map<string, JsonServer>()
      const serverAt = (origin: string) =>
        getOrInsert(connected, origin, () => servers.connect({ origin, tls }, issuerTimeoutMs))
      return oidc(issuer, { ownAudiences: audiences, clock, crypto, serverAt })
    }),
    ...(webhook === undefined
      ? []
      : [
          tokenWebhook({
            ...webhook,
            target: webhook.connection.target,
            server: servers.connect(webhook.connection, tokenWebhookTimeoutMs),
            ownAudiences: audiences,
            crypto,
          }),
        ]),
  ]
}
