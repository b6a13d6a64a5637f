// Cost of authentication and authorization per request: for a certificate's user, and for a ServiceAccount with 1,000
// bindings.
import { seededRandom } from '../src/base/random/random.ts'
import { realClock } from '../src/base/time/clock.ts'
import { clusterRole } from '../src/api/rbac/v1/cluster-role.ts'
import { roleBinding } from '../src/api/rbac/v1/role-binding.ts'
import { serviceAccount } from '../src/api/core/v1/service-account.ts'
import { pod } from '../src/api/core/v1/pod/pod.ts'
import { clientCertificates } from '../src/apiserver/authentication/client-certificates.ts'
import { ServiceAccountTokens } from '../src/apiserver/authentication/service-account-tokens.ts'
import { attributesOf } from '../src/apiserver/authorization/attributes.ts'
import { bootstrapRbacObjects } from '../src/apiserver/authorization/bootstrap-policy/bootstrap-rbac-objects.ts'
import { nodeAuthorizer } from '../src/apiserver/authorization/node/node-authorizer.ts'
import { TestCaches } from '../src/apiserver/watch-cache/caches.harness.ts'
import { Metrics } from '../src/base/observability/metrics.ts'
import { AuthorizerMetrics } from '../src/apiserver/metrics/authorizer-metrics.ts'
import { CredentialMetrics } from '../src/apiserver/metrics/credential-metrics.ts'
import type { Policies } from '../src/apiserver/filters/policies.ts'
import type { ApiRequest, Credentials, User } from '../src/apiserver/request/request.ts'
import { serverPolicies } from '../src/apiserver/server-policies.ts'
import { AccountKeys } from '../src/apiserver/authentication/account-keys.ts'
import { nodeCrypto } from '../src/platform/node/crypto.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const issuer = 'https://kubernetes.default.svc.cluster.local'
const apiGroup = 'rbac.authorization.k8s.io'
const account = { name: 'robot', namespace: 'shop' }
const { signal } = new AbortController()

const metrics = new Metrics()
const credentials = new CredentialMetrics(metrics)
const authorizers = new AuthorizerMetrics(metrics, realClock)

const accountTokens = new ServiceAccountTokens({
  issuer,
  audiences: [issuer],
  keys: new AccountKeys({ signing: nodeCrypto.generateKey(), accepted: [] }, nodeCrypto),
  clock: realClock,
  random: seededRandom(1),
  crypto: nodeCrypto,
  metrics: credentials,
})

const bound = (name: string, subjects: object[]) =>
  ({
    kind: 'RoleBinding',
    metadata: { name, namespace: 'shop' },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects,
  }) as never

/** `own` roles bound to the account in its namespace, and `others` bindings of other subjects. */
function policiesWith(own: number, others: number): Policies {
  const caches = new TestCaches()
  const policies = serverPolicies({
    clock: realClock,
    audiences: [issuer],
    anonymous: { enabled: true, paths: undefined },
    authenticators: [clientCertificates([issuer], { clock: realClock, metrics: credentials })],
    tokens: (all) => [accountTokens.authenticator(all)],
    accountTokens,
    authorizers: (rbac, all) => [
      authorizers.counted(nodeAuthorizer(all, authorizers), 'Node', 'node'),
      authorizers.counted(rbac, 'RBAC', 'rbac'),
    ],
    admission: [],
  })(caches)
  for (const { kind, object } of bootstrapRbacObjects) caches.set(kind, object)
  caches.set(serviceAccount, { metadata: { ...account, uid: 'u' } } as never)
  for (let index = 0; index < own; index++) {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [`c${index}`] }]
    caches.set(clusterRole, { kind: 'ClusterRole', metadata: { name: `own-${index}` }, rules } as never)
    caches.set(roleBinding, bound(`own-${index}`, [{ kind: 'ServiceAccount', ...account }]))
  }
  caches.set(
    roleBinding,
    bound('view', [
      { kind: 'ServiceAccount', ...account },
      { kind: 'User', apiGroup, name: 'alice' },
    ]),
  )
  for (let index = 0; index < others; index++)
    caches.set(roleBinding, {
      ...(bound('edit', [{ kind: 'User', apiGroup, name: `user-${index}` }]) as object),
      metadata: { name: `b${index}`, namespace: `ns-${index % 500}` },
    } as never)
  return policies
}

const requestWith = (presented: Credentials): ApiRequest => ({
  context: { signal, cause: { event: 0 as never, also: [], revisions: [] } },
  credentials: presented,
  user: undefined,
  sender: 'bench',
  agent: 'bench',
  target: { kind: 'resource', verb: 'list', resource: pod, subresource: '', namespace: 'shop', name: '' },
  query: new URLSearchParams(),
  body: { kind: 'none' },
})

function passes(policies: Policies, request: ApiRequest): void {
  const known = policies.authenticate(request)
  if (known instanceof Promise || known.kind !== 'authenticated') throw new Error('not known')
  decides(policies, known.user, request, 'allowed')
}

function decides(policies: Policies, user: User, request: ApiRequest, expected: string): void {
  const decision = policies.authorize(attributesOf(user, request), signal)
  if (decision instanceof Promise || decision.kind !== expected) throw new Error('decided otherwise')
}

export const identityBench: Bench = {
  name: 'identity',
  run() {
    const none = () => []
    const policies = policiesWith(1_000, 0)
    const certificate = {
      commonName: 'alice',
      organizations: ['dev'],
      fingerprint: 'ab'.repeat(32),
      trustedFor: ['users'],
      validToMs: Date.UTC(2100, 0),
    } as const
    const byCertificate = requestWith({ kind: 'presented', certificate, headers: {}, headerValues: none })
    const holder = { namespace: account.namespace, account: { name: account.name, uid: 'u' } }
    const token = accountTokens.issue({ holder, audiences: [issuer], seconds: 3600 })
    const headers = { authorization: `Bearer ${token}` }
    const byToken = requestWith({ kind: 'presented', certificate: undefined, headers, headerValues: none })
    const perCertificate = nanosecondsPer(20_000, (calls) => {
      for (let index = 0; index < calls; index++) passes(policies, byCertificate)
    })
    const perToken = nanosecondsPer(20_000, (calls) => {
      for (let index = 0; index < calls; index++) passes(policies, byToken)
    })
    const many = policiesWith(0, 10_000)
    const users = Array.from({ length: 1_000 }, (_, index) => ({
      name: `user-${index}`,
      uid: '',
      groups: ['system:authenticated'],
      extra: {},
    }))
    const perDecision = nanosecondsPer(20_000, (calls) => {
      for (let index = 0; index < calls; index++)
        decides(many, users[index % 1_000] as User, byCertificate, 'noOpinion')
    })
    return [
      `authenticate and authorize a certificate's user: ${(perCertificate / 1000).toFixed(1)} µs`,
      `the same for a ServiceAccount token with 1,000 bindings: ${(perToken / 1000).toFixed(1)} µs`,
      `decisions with 10,000 bindings: ${Math.round(1e9 / perDecision).toLocaleString('en')}/s`,
    ]
  },
}
