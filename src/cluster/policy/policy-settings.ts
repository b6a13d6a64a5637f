// PolicySettings: the parsed policy flags and their files. An invalid value stops the start.
import { mutatingRequestsDefault, readRequestsDefault } from '../../apiserver/fairness/fairness.ts'
import { defaultAdmissionSettings, type AdmissionSettings } from '../../apiserver/admission/plugins.ts'
import type { AnonymousRules } from '../../apiserver/authentication/anonymous.ts'
import { authenticationConfig } from '../../apiserver/authentication/authentication-config.ts'
import type { JwtIssuer } from '../../apiserver/authentication/oidc.ts'
import {
  authorizationConfig,
  authorizationModes,
  type AuthorizerSetting,
  type WebhookSetting,
} from '../../apiserver/authorization/authorization-config.ts'
import type { Identity } from '../../pki/authority.ts'
import type { Files } from '../../platform/files.ts'
import { signatureAlgorithms } from '../../platform/crypto/crypto.ts'
import { readAdmissionSettings } from './admission-settings.ts'
import { readAuditSettings, type AuditSettings } from './audit-settings.ts'
import { choiceFlag, countFlag, requiredFlag, readYaml, durationFlag } from '../flags/flag-values.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import { frontProxySettingsDefault, readFrontProxySettings, type FrontProxySettings } from './front-proxy-settings.ts'
import { readText, webhookConnection, type WebhookConnection } from '../flags/webhook-connection.ts'

export type ResolvedAuthorizer =
  | { readonly type: 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC'; readonly name: string }
  | { readonly type: 'ABAC'; readonly name: string; readonly policies: string }
  | {
      readonly type: 'Webhook'
      readonly name: string
      readonly webhook: Omit<WebhookSetting, 'kubeconfigPath'>
      readonly connection: WebhookConnection
    }

export interface PolicySettings {
  readonly serviceAccountIssuer: string
  readonly anonymous: AnonymousRules
  readonly issuers: readonly JwtIssuer[]
  /** The content of the token file; empty when there is none. */
  readonly tokenFile: string
  readonly tokenWebhook: TokenWebhookSetting | undefined
  readonly authorizers: readonly ResolvedAuthorizer[]
  readonly admission: AdmissionSettings
  /** Undefined: nothing is recorded. */
  readonly audit: AuditSettings | undefined
  /** The authority of kubelets' serving certificates, as PEM; empty: not verified, as upstream. */
  readonly kubeletAuthority: string
  /** The client certificate for extension servers; undefined: the one that the cluster issues. */
  readonly proxyIdentity: (() => Identity) | undefined
  readonly frontProxy: FrontProxySettings
  /** How many requests are handled at a time, by priority and fairness. */
  readonly seats: number
}

export interface TokenWebhookSetting {
  readonly connection: WebhookConnection
  readonly version: 'v1' | 'v1beta1'
  readonly cacheMs: number
}

const webhookTimeoutMs = 30_000

export const defaultPolicySettings: PolicySettings = {
  serviceAccountIssuer: 'https://kubernetes.default.svc.cluster.local',
  anonymous: { enabled: true, paths: undefined },
  issuers: [],
  tokenFile: '',
  tokenWebhook: undefined,
  authorizers: [
    { type: 'Node', name: 'node' },
    { type: 'RBAC', name: 'rbac' },
  ],
  admission: defaultAdmissionSettings,
  audit: undefined,
  kubeletAuthority: '',
  proxyIdentity: undefined,
  frontProxy: frontProxySettingsDefault,
  seats: readRequestsDefault + mutatingRequestsDefault,
}

export async function readPolicySettings(flags: PolicyFlagValues, files: Files): Promise<PolicySettings> {
  const read = (path: string) => readText(path, files)
  const authentication = flags['authentication-config']
  const structured =
    authentication === undefined ? undefined : authenticationConfig(await readYaml(authentication, files))
  if (structured !== undefined && flags['oidc-issuer-url'] !== undefined)
    throw new Error('--authentication-config and --oidc-issuer-url cannot both be set')
  if (structured?.anonymous !== undefined && flags['anonymous-auth'] !== undefined)
    throw new Error('--anonymous-auth cannot be set when the authentication configuration speaks of anonymous')
  const enabled = choiceFlag(flags, 'anonymous-auth', ['true', 'false'], 'true') === 'true'
  const webhook = flags['authentication-token-webhook-config-file']
  return {
    serviceAccountIssuer: flags['service-account-issuer'] ?? defaultPolicySettings.serviceAccountIssuer,
    anonymous: structured?.anonymous ?? { enabled, paths: undefined },
    issuers: structured?.issuers ?? (await issuerByFlags(flags, files)),
    tokenFile: flags['token-auth-file'] === undefined ? '' : await read(flags['token-auth-file']),
    tokenWebhook:
      webhook === undefined
        ? undefined
        : {
            connection: await webhookConnection(webhook, files),
            version: choiceFlag(flags, 'authentication-token-webhook-version', ['v1', 'v1beta1'], 'v1'),
            cacheMs: durationFlag(flags, 'authentication-token-webhook-cache-ttl', 120_000),
          },
    authorizers: await Promise.all(
      (await authorizerSettings(flags, files)).map((each) => resolved(each, flags, files)),
    ),
    admission: await readAdmissionSettings(flags, files),
    audit: await readAuditSettings(flags, files),
    kubeletAuthority:
      flags['kubelet-certificate-authority'] === undefined ? '' : await read(flags['kubelet-certificate-authority']),
    proxyIdentity: await proxyIdentityByFlags(flags, files),
    frontProxy: await readFrontProxySettings(flags, files),
    seats:
      countFlag(flags, 'max-requests-inflight', readRequestsDefault, 1) +
      countFlag(flags, 'max-mutating-requests-inflight', mutatingRequestsDefault, 1),
  }
}

async function proxyIdentityByFlags(flags: PolicyFlagValues, files: Files): Promise<PolicySettings['proxyIdentity']> {
  const certificateFile = flags['proxy-client-cert-file']
  const keyFile = flags['proxy-client-key-file']
  if (certificateFile === undefined && keyFile === undefined) return undefined
  if (certificateFile === undefined || keyFile === undefined)
    throw new Error('--proxy-client-cert-file and --proxy-client-key-file must be set together')
  const identity = { certificate: await readText(certificateFile, files), key: await readText(keyFile, files) }
  return () => identity
}

async function authorizerSettings(flags: PolicyFlagValues, files: Files): Promise<readonly AuthorizerSetting[]> {
  const path = flags['authorization-config']
  const modes = flags['authorization-mode']
  if (path !== undefined) {
    if (modes !== undefined) throw new Error('--authorization-config and --authorization-mode cannot both be set')
    return authorizationConfig(await readYaml(path, files))
  }
  return (modes ?? 'Node,RBAC').split(',').map((word): AuthorizerSetting => {
    const type = authorizationModes.find((mode) => mode === word.trim())
    if (type === undefined)
      throw new Error(`--authorization-mode ${JSON.stringify(word)} is none of ${authorizationModes.join(', ')}`)
    // As upstream names them in metrics.
    return type === 'Webhook'
      ? { type, name: 'default', webhook: webhookByFlags(flags) }
      : { type, name: type.toLowerCase() }
  })
}

const webhookByFlags = (flags: PolicyFlagValues): WebhookSetting => ({
  kubeconfigPath: requiredFlag(flags, 'authorization-webhook-config-file', 'Webhook'),
  timeoutMs: webhookTimeoutMs,
  version: choiceFlag(flags, 'authorization-webhook-version', ['v1', 'v1beta1'], 'v1'),
  allowedCacheMs: durationFlag(flags, 'authorization-webhook-cache-authorized-ttl', 300_000),
  deniedCacheMs: durationFlag(flags, 'authorization-webhook-cache-unauthorized-ttl', 30_000),
  onFailure: 'NoOpinion',
  conditions: [],
})

async function resolved(
  setting: AuthorizerSetting,
  flags: PolicyFlagValues,
  files: Files,
): Promise<ResolvedAuthorizer> {
  switch (setting.type) {
    case 'ABAC':
      return {
        ...setting,
        type: 'ABAC',
        policies: await readText(requiredFlag(flags, 'authorization-policy-file', 'ABAC'), files),
      }
    case 'Webhook': {
      const { kubeconfigPath, ...webhook } = setting.webhook
      return { ...setting, webhook, connection: await webhookConnection(kubeconfigPath, files) }
    }
    default:
      return { type: setting.type, name: setting.name }
  }
}

async function issuerByFlags(flags: PolicyFlagValues, files: Files): Promise<readonly JwtIssuer[]> {
  const url = flags['oidc-issuer-url']
  if (url === undefined) return []
  if (!url.startsWith('https://')) throw new Error('--oidc-issuer-url must begin with https://')
  const claim = flags['oidc-username-claim'] ?? 'sub'
  const prefix = flags['oidc-username-prefix'] ?? (claim === 'email' ? '-' : `${url}#`)
  const groups = flags['oidc-groups-claim']
  const algorithms = (flags['oidc-signing-algs'] ?? 'RS256').split(',').map((word) => {
    const known = signatureAlgorithms.find((algorithm) => algorithm === word.trim())
    if (known === undefined) throw new Error(`--oidc-signing-algs ${JSON.stringify(word)} is not known`)
    return known
  })
  return [
    {
      url,
      discoveryUrl: `${url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      certificateAuthority: flags['oidc-ca-file'] === undefined ? '' : await readText(flags['oidc-ca-file'], files),
      audiences: [requiredFlag(flags, 'oidc-client-id', '--oidc-issuer-url')],
      algorithms,
      requiredClaims: (flags['oidc-required-claim'] ?? '').split(',').flatMap((pair) => {
        const [name = '', value = ''] = pair.split('=')
        return name === '' ? [] : [{ claim: name, value }]
      }),
      username: { claim, prefix: prefix === '-' ? '' : prefix },
      groups: groups === undefined ? undefined : { claim: groups, prefix: flags['oidc-groups-prefix'] ?? '' },
      uidClaim: '',
    },
  ]
}
