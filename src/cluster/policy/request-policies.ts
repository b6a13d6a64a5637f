// The policies of a cluster: who is believed, and who may do what, as its settings say.
import type { Clock } from '../../base/time/clock.ts'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Random } from '../../base/random/random.ts'
import { enabledPlugins } from '../../apiserver/admission/plugins.ts'
import { WebhookClient } from '../../apiserver/admission/plugins/webhooks/webhook-client.ts'
import { mutatingWebhooks } from '../../apiserver/admission/plugins/webhooks/mutating-webhooks.ts'
import { serviceAddress } from '../../apiserver/admission/plugins/webhooks/service-address.ts'
import { validatingWebhooks } from '../../apiserver/admission/plugins/webhooks/validating-webhooks.ts'
import { WebhookMetrics } from '../../apiserver/admission/plugins/webhooks/webhook-metrics.ts'
import { AuditLog } from '../../apiserver/audit/audit-log.ts'
import { AuditWebhook } from '../../apiserver/audit/audit-webhook.ts'
import { Auditor } from '../../apiserver/audit/auditor.ts'
import type { TokenAuthenticator } from '../../apiserver/authentication/authenticator.ts'
import { bootstrapTokens } from '../../apiserver/authentication/bootstrap-tokens.ts'
import { clientCertificates } from '../../apiserver/authentication/client-certificates.ts'
import { frontProxy, frontProxyDefaults } from '../../apiserver/authentication/front-proxy.ts'
import { legacyServiceAccountTokens } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import { oidc } from '../../apiserver/authentication/oidc.ts'
import { ServiceAccountTokens } from '../../apiserver/authentication/service-account-tokens.ts'
import { tokenFile } from '../../apiserver/authentication/token-file.ts'
import { tokenWebhook } from '../../apiserver/authentication/token-webhook.ts'
import { abac } from '../../apiserver/authorization/abac/abac.ts'
import { webhookAuthorizer } from '../../apiserver/authorization/webhook-authorizer.ts'
import { alwaysAllow, alwaysDeny, type Authorizer } from '../../apiserver/authorization/authorizer.ts'
import { FairnessMetrics } from '../../apiserver/fairness/fairness-metrics.ts'
import { Fairness, seatsDefault } from '../../apiserver/fairness/fairness.ts'
import { nodeAuthorizer } from '../../apiserver/authorization/node/node-authorizer.ts'
import type { Rbac } from '../../apiserver/authorization/rbac/rbac.ts'
import type { JsonServer } from '../../apiserver/outbound/outbound-json.ts'
import type { Policies } from '../../apiserver/filters/policies.ts'
import { serverPolicies } from '../../apiserver/server-policies.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import type { Outbound, OutboundOptions } from '../../platform/http/outbound.ts'
import type { Platform } from '../../platform/platform.ts'
import type { AuditSettings } from './audit-settings.ts'
import { defaultPolicySettings, type PolicySettings, type ResolvedAuthorizer } from './policy-settings.ts'
import type { WebhookConnection } from '../flags/webhook-connection.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'

export interface PolicyDeps {
  readonly clock: Clock
  readonly random: Random
  readonly platform: Pick<Platform, 'crypto' | 'files' | 'outbound'>
  /** Log and metrics; none when omitted. */
  readonly log?: Log
  readonly metrics?: Metrics
  /** Signs ServiceAccount tokens. */
  readonly accountKey: KeyPair
  /** Earlier keys of ServiceAccount tokens. */
  readonly oldAccountKeys?: readonly PublicKey[]
}

const issuerTimeoutMs = 10_000
const tokenWebhookTimeoutMs = 30_000
const auditWebhookTimeoutMs = 30_000

export interface BuiltPolicies {
  readonly policies: (caches: ObjectCaches) => Policies
  /** Recorded uses of legacy tokens, to be written by trackLegacyTokens. */
  readonly tokenUses: LegacyTokenUsage
  /** Closes the connections to issuers and webhooks. */
  close(): Promise<void>
}

export function buildRequestPolicies(
  deps: PolicyDeps,
  settings: PolicySettings = defaultPolicySettings,
): BuiltPolicies {
  const { clock, random, platform, accountKey, oldAccountKeys = [] } = deps
  const { crypto } = platform
  const issuer = settings.serviceAccountIssuer
  const audiences = [issuer]
  const servers = new OutboundServers(deps)
  const accountTokens = new ServiceAccountTokens({
    issuer,
    audiences,
    key: accountKey,
    oldKeys: oldAccountKeys,
    clock,
    random,
    crypto,
  })
  const tokenUses = new LegacyTokenUsage(clock)
  const legacyParts = {
    keys: [crypto.loadPublicKey(accountKey.publicKey), ...oldAccountKeys],
    audiences,
    crypto,
    onUse: (kept: Secret) => tokenUses.record(kept),
  }
  const tokenAuthenticators = (caches: ObjectCaches): TokenAuthenticator[] => [
    ...(settings.tokenFile === '' ? [] : [tokenFile(settings.tokenFile, audiences, crypto)]),
    accountTokens.authenticator(caches),
    legacyServiceAccountTokens(caches, legacyParts),
    bootstrapTokens(caches, audiences, clock, crypto),
    ...settings.issuers.map((each) => {
      const tls = each.certificateAuthority === '' ? {} : { authority: each.certificateAuthority }
      const known = new Map<string, JsonServer>()
      const serverAt = (origin: string) =>
        getOrInsert(known, origin, () => servers.connect({ origin, tls }, issuerTimeoutMs))
      return oidc(each, { ownAudiences: audiences, clock, crypto, serverAt })
    }),
    ...(settings.tokenWebhook === undefined
      ? []
      : [
          tokenWebhook({
            ...settings.tokenWebhook,
            target: settings.tokenWebhook.connection.target,
            server: servers.connect(settings.tokenWebhook.connection, tokenWebhookTimeoutMs),
            ownAudiences: audiences,
            crypto,
          }),
        ]),
  ]
  const { metrics = new Metrics() } = deps
  const webhookMetrics = new WebhookMetrics(metrics)
  const caller = new WebhookClient({
    outbound: platform.outbound,
    clock,
    random,
    metrics: webhookMetrics,
    serviceAddress,
  })
  const fairnessMetrics = new FairnessMetrics(metrics)
  const audit = settings.audit && auditorOf(settings.audit, deps, servers)
  const policies = serverPolicies({
    clock,
    audit,
    fairness: (caches) => new Fairness(caches, { clock, metrics: fairnessMetrics, seats: seatsDefault }).takeSeat,
    audiences,
    anonymous: settings.anonymous,
    authenticators: [frontProxy(frontProxyDefaults, audiences), clientCertificates(audiences)],
    tokens: tokenAuthenticators,
    accountTokens,
    authorizers: (rbac, caches) =>
      settings.authorizers.map((setting) => authorizerOf(setting, rbac, caches, crypto, servers)),
    admission: enabledPlugins(settings.admission, [mutatingWebhooks(caller), validatingWebhooks(caller)]),
  })
  return {
    policies,
    tokenUses,
    async close() {
      await audit?.close()
      await Promise.all([servers.close(), caller.close()])
    },
  }
}

function auditorOf({ policy, log, webhook }: AuditSettings, deps: PolicyDeps, servers: OutboundServers): Auditor {
  const { clock, random, platform, log: ownLog = silentLog, metrics = new Metrics() } = deps
  const errors = metrics.counter('apiserver_audit_error_total', 'Audit events that were lost, by backend.', ['plugin'])
  return new Auditor({
    policy,
    clock,
    random,
    metrics,
    isStrict: [log, webhook].some((backend) => backend?.mode === 'blocking-strict'),
    backends: [
      ...(log === undefined ? [] : [new AuditLog(log, { files: platform.files, clock, log: ownLog, errors })]),
      ...(webhook === undefined
        ? []
        : [
            new AuditWebhook(webhook, {
              server: servers.connect(webhook.connection, auditWebhookTimeoutMs),
              target: webhook.connection.target,
              log: ownLog,
              errors,
            }),
          ]),
    ],
  })
}

function authorizerOf(
  setting: ResolvedAuthorizer,
  rbac: Rbac,
  caches: ObjectCaches,
  crypto: Platform['crypto'],
  servers: OutboundServers,
): Authorizer {
  switch (setting.type) {
    case 'ABAC':
      return abac(setting.policies)
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'Node':
      return nodeAuthorizer(caches)
    case 'RBAC':
      return rbac
    case 'Webhook': {
      const { name, webhook, connection } = setting
      const server = servers.connect(connection, webhook.timeoutMs)
      return webhookAuthorizer({ ...webhook, name, server, target: connection.target, crypto })
    }
    default:
      return setting satisfies never
  }
}

/** Connections to issuers and webhooks, opened on first use. */
class OutboundServers {
  readonly #deps: PolicyDeps
  readonly #opened: Outbound[] = []

  constructor(deps: PolicyDeps) {
    this.#deps = deps
  }

  connect(options: OutboundOptions | WebhookConnection, timeoutMs: number): JsonServer {
    const { platform, clock } = this.#deps
    const outbound = platform.outbound.connect({ origin: options.origin, tls: options.tls })
    this.#opened.push(outbound)
    const token = 'token' in options ? options.token : ''
    const authorized = token === '' ? {} : { authorization: `Bearer ${token}` }
    const send: Outbound['send'] = (request, signal) =>
      outbound.send({ ...request, headers: { ...request.headers, ...authorized } }, signal)
    return { clock, timeoutMs, outbound: { send, close: () => outbound.close() } }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((outbound) => outbound.close()))
  }
}
