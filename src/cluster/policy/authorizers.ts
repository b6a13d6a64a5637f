// The authorizers of an API server, in the order of its settings.
import { abac } from '../../apiserver/authorization/abac/abac.ts'
import { webhookAuthorizer } from '../../apiserver/authorization/webhook-authorizer.ts'
import { alwaysAllow, alwaysDeny, type Authorizer } from '../../apiserver/authorization/authorizer.ts'
import { nodeAuthorizer } from '../../apiserver/authorization/node/node-authorizer.ts'
import type { AuthorizerMetrics } from '../../apiserver/metrics/authorizer-metrics.ts'
import type { Rbac } from '../../apiserver/authorization/rbac/rbac.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'
import type { OutboundServers } from './outbound-servers.ts'
import type { ResolvedAuthorizer } from './policy-settings.ts'

export interface AuthorizerDeps {
  readonly crypto: Platform['crypto']
  readonly servers: OutboundServers
  readonly metrics: AuthorizerMetrics
}

/** The authorizer of a setting, with its decisions counted. */
export const authorizerFor = (
  setting: ResolvedAuthorizer,
  rbac: Rbac,
  caches: ObjectCaches,
  deps: AuthorizerDeps,
): Authorizer => deps.metrics.counted(uncounted(setting, rbac, caches, deps), setting.type, setting.name)

function uncounted(
  setting: ResolvedAuthorizer,
  rbac: Rbac,
  caches: ObjectCaches,
  { crypto, servers, metrics }: AuthorizerDeps,
): Authorizer {
  switch (setting.type) {
    case 'ABAC':
      return abac(setting.policies)
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'Node':
      return nodeAuthorizer(caches, metrics)
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
