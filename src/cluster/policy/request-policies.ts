// Request policies: assembles the authenticators, authorizers, admission plugins, audit and fairness of an API server from
// its settings.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import { enabledPlugins } from '../../apiserver/admission/plugins.ts'
import { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import { WebhookClient } from '../../apiserver/admission/plugins/webhooks/webhook-client.ts'
import { mutatingWebhooks } from '../../apiserver/admission/plugins/webhooks/mutating-webhooks.ts'
import { validatingWebhooks } from '../../apiserver/admission/plugins/webhooks/validating-webhooks.ts'
import { WebhookMetrics } from '../../apiserver/admission/plugins/webhooks/webhook-metrics.ts'
import { clientCertificates } from '../../apiserver/authentication/client-certificates.ts'
import { frontProxy } from '../../apiserver/authentication/front-proxy.ts'
import { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import { ServiceAccountTokens } from '../../apiserver/authentication/service-account-tokens.ts'
import { FairnessMetrics } from '../../apiserver/fairness/fairness-metrics.ts'
import { AuthorizerMetrics } from '../../apiserver/metrics/authorizer-metrics.ts'
import { CredentialMetrics } from '../../apiserver/metrics/credential-metrics.ts'
import { Fairness } from '../../apiserver/fairness/fairness.ts'
import type { Policies } from '../../apiserver/filters/policies.ts'
import { serviceAddress } from '../../apiserver/outbound/service-address.ts'
import { WebhookConnections } from '../../apiserver/outbound/webhook-connections.ts'
import { serverPolicies } from '../../apiserver/server-policies.ts'
import type { KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'
import { authorizerFor } from './authorizers.ts'
import { buildAuditor } from './build-auditor.ts'
import { OutboundServers } from './outbound-servers.ts'
import { defaultPolicySettings, type PolicySettings } from './policy-settings.ts'
import { tokenAuthenticators } from './token-authenticators.ts'

export interface PolicyDeps {
  readonly clock: Clock
  readonly random: Random
  readonly platform: Pick<Platform, 'crypto' | 'files' | 'outbound'>
  /** Log and metrics; none when omitted. */
  readonly log?: Log
  readonly metrics?: Metrics
  /** Signs ServiceAccount tokens. */
  readonly accountKey: KeyPair
  /** Further keys whose ServiceAccount tokens are accepted. */
  readonly oldAccountKeys?: readonly PublicKey[]
}

export interface BuiltPolicies {
  readonly policies: (caches: ObjectCaches) => Policies
  /** Recorded uses of legacy tokens, to be written by trackLegacyTokens. */
  readonly tokenUses: LegacyTokenUsage
  readonly accountKeys: AccountKeys
  /** Closes the connections to issuers and webhooks. */
  close(): Promise<void>
}

export function buildRequestPolicies(
  deps: PolicyDeps,
  settings: PolicySettings = defaultPolicySettings,
): BuiltPolicies {
  const { clock, random, platform, accountKey, oldAccountKeys = [], metrics = new Metrics() } = deps
  const { crypto } = platform
  const issuer = settings.serviceAccountIssuer
  const audiences = [issuer]
  const servers = new OutboundServers(platform.outbound, clock)
  const accountKeys = new AccountKeys({ signing: accountKey, accepted: oldAccountKeys }, crypto)
  const credentials = new CredentialMetrics(metrics)
  const accountTokens = new ServiceAccountTokens({
    issuer,
    audiences,
    keys: accountKeys,
    clock,
    random,
    crypto,
    metrics: credentials,
  })
  const legacyTokenUsage = new LegacyTokenUsage(clock)
  const tokenDeps = {
    clock,
    crypto,
    accountKeys,
    accountTokens,
    legacyTokenUsage,
    servers,
    metrics: credentials,
  }
  const connections = new WebhookConnections({ outbound: platform.outbound, clock, serviceAddress })
  const webhooks = new WebhookClient({ connections, clock, random, metrics: new WebhookMetrics(metrics) })
  const authorizerMetrics = new AuthorizerMetrics(metrics, clock)
  const fairnessMetrics = new FairnessMetrics(metrics)
  const audit = settings.audit && buildAuditor(settings.audit, deps, servers)
  const policies = serverPolicies({
    clock,
    audit,
    fairness: (caches) => new Fairness(caches, { clock, metrics: fairnessMetrics, seats: settings.seats }).seatOf,
    audiences,
    anonymous: settings.anonymous,
    authenticators: [
      frontProxy(settings.frontProxy.rules, audiences),
      clientCertificates(audiences, { clock, metrics: credentials }),
    ],
    tokens: (caches) => tokenAuthenticators(settings, caches, tokenDeps),
    accountTokens,
    authorizers: (rbac, caches) =>
      settings.authorizers.map((setting) =>
        authorizerFor(setting, rbac, caches, { crypto, servers, metrics: authorizerMetrics }),
      ),
    webhooks: connections,
    admission: enabledPlugins(settings.admission, [mutatingWebhooks(webhooks), validatingWebhooks(webhooks)]),
  })
  return {
    policies,
    tokenUses: legacyTokenUsage,
    accountKeys,
    async close() {
      await audit?.close()
      await Promise.all([servers.close(), connections.close()])
    },
  }
}
