// AuthorizationConfiguration: the ordered list of authorizers.
import { ConfigReader } from '../config/config-reader.ts'
import { authorizerCondition, type AuthorizerCondition } from './webhook-authorizer-conditions.ts'

export const authorizationModes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const
export type AuthorizationMode = (typeof authorizationModes)[number]

export type AuthorizerSetting =
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookSetting }

export interface WebhookSetting {
  /** A kubeconfig with the address and credentials of the webhook. */
  readonly kubeconfigPath: string
  readonly timeoutMs: number
  readonly version: 'v1' | 'v1beta1'
  readonly allowedCacheMs: number
  readonly deniedCacheMs: number
  readonly onFailure: 'NoOpinion' | 'Deny'
  readonly conditions: readonly AuthorizerCondition[]
}

const versions = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'] as const
const timeoutMsMax = 30_000

export function authorizationConfig(value: unknown): readonly AuthorizerSetting[] {
  const config = new ConfigReader(value)
  config.oneOf('apiVersion', versions)
  config.oneOf('kind', ['AuthorizationConfiguration'])
  const settings = config.objects('authorizers').map((each) => {
    const type = each.oneOf('type', authorizationModes)
    const name = each.string('name')
    const webhook = each.object('webhook')
    each.rejectUnknownFields()
    if (type !== 'Webhook') {
      if (webhook !== undefined) throw each.error('webhook', `may not be set for ${type}`)
      return { setting: { type, name }, name, config: each }
    }
    if (webhook === undefined) throw each.error('webhook', 'is required')
    return { setting: { type, name, webhook: webhookOf(webhook) }, name, config: each }
  })
  if (settings.length === 0) throw config.error('authorizers', 'must name at least one')
  config.rejectUnknownFields()
  for (const [index, { setting, name, config: at }] of settings.entries())
    for (const before of settings.slice(0, index)) {
      if (before.name === name) throw at.error('name', `${JSON.stringify(name)} is listed twice`)
      if (setting.type !== 'Webhook' && before.setting.type === setting.type)
        throw at.error('type', `${setting.type} is listed twice`)
    }
  return settings.map(({ setting }) => setting)
}

function webhookOf(config: ConfigReader): WebhookSetting {
  const connection = config.object('connectionInfo')
  if (connection === undefined) throw config.error('connectionInfo', 'is required')
  const type = connection.oneOf('type', ['KubeConfigFile', 'InClusterConfig'])
  if (type === 'InClusterConfig') throw connection.error('type', 'InClusterConfig is not supported yet')
  const kubeconfigPath = connection.string('kubeConfigFile')
  connection.rejectUnknownFields()
  const timeoutMs = config.milliseconds('timeout', 0)
  if (timeoutMs <= 0 || timeoutMs > timeoutMsMax) throw config.error('timeout', 'must be above 0 and at most 30s')
  const setting: WebhookSetting = {
    kubeconfigPath,
    timeoutMs,
    version: config.oneOf('subjectAccessReviewVersion', ['v1', 'v1beta1']),
    allowedCacheMs: config.boolean('cacheAuthorizedRequests', true) ? config.milliseconds('authorizedTTL', 300_000) : 0,
    deniedCacheMs: config.boolean('cacheUnauthorizedRequests', true)
      ? config.milliseconds('unauthorizedTTL', 30_000)
      : 0,
    onFailure: config.oneOf('failurePolicy', ['NoOpinion', 'Deny']),
    conditions: config.objects('matchConditions').map(authorizerCondition),
  }
  config.string('matchConditionSubjectAccessReviewVersion', '')
  config.rejectUnknownFields()
  return setting
}
