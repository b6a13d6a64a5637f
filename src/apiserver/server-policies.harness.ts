// A server with the real policies for tests: certificates and ServiceAccount tokens, Node and RBAC with the default roles.
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { KeyPair } from '../platform/crypto/crypto.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import type { Store } from '../store/store.ts'
import { defaultAdmissionPlugins } from './admission/plugins.ts'
import { AccountKeys } from './authentication/account-keys.ts'
import { clientCertificates } from './authentication/client-certificates.ts'
import { ServiceAccountTokens } from './authentication/service-account-tokens.ts'
import { bootstrapRbacObjects } from './authorization/bootstrap-policy/bootstrap-rbac-objects.ts'
import { nodeAuthorizer } from './authorization/node/node-authorizer.ts'
import { AuthorizerMetrics } from './metrics/authorizer-metrics.ts'
import { CredentialMetrics } from './metrics/credential-metrics.ts'
import { serverPolicies, type ServerPolicyOptions } from './server-policies.ts'
import type { UiOptions } from './server-deps.ts'
import { startServer, type Harness } from './server.harness.ts'

export const issuer = 'https://kubernetes.default.svc.cluster.local'

export interface GuardedHarness extends Harness {
  readonly accountTokens: ServiceAccountTokens
  /** The metrics of authenticators and authorizers. */
  readonly policyMetrics: Metrics
}

/** What the servers of one cluster share, and the web UI. */
export interface SharedDeps {
  readonly store?: Store
  /** Signs and checks the tokens of ServiceAccounts. */
  readonly key?: KeyPair
  readonly ui?: UiOptions
}

export async function startGuarded(
  options: Partial<ServerPolicyOptions> = {},
  { key = nodeCrypto.generateKey(), ...shared }: SharedDeps = {},
): Promise<GuardedHarness> {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const metrics = new Metrics()
  const credentials = new CredentialMetrics(metrics)
  const authorizerMetrics = new AuthorizerMetrics(metrics, clock)
  const accountTokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    keys: new AccountKeys({ signing: key, accepted: [] }, nodeCrypto),
    clock,
    random: seededRandom(2),
    crypto: nodeCrypto,
    metrics: credentials,
  })
  const policies = serverPolicies({
    clock,
    audiences: [issuer],
    anonymous: { enabled: true, paths: undefined },
    authenticators: [clientCertificates([issuer], { clock, metrics: credentials })],
    tokens: (caches) => [accountTokens.authenticator(caches)],
    accountTokens,
    authorizers: (rbac, caches) => [
      authorizerMetrics.counted(nodeAuthorizer(caches, authorizerMetrics), 'Node', 'node'),
      authorizerMetrics.counted(rbac, 'RBAC', 'rbac'),
    ],
    admission: defaultAdmissionPlugins,
    ...options,
  })
  return {
    ...(await startServer(policies, { bootstrapObjects: bootstrapRbacObjects, clock, ...shared })),
    accountTokens,
    policyMetrics: metrics,
  }
}
