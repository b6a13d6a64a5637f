// Configuration files: their meaning, and that no field is silently ignored.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { authenticationConfig } from '../authentication/authentication-config.ts'
import { authorizationConfig } from '../authorization/authorization-config.ts'
import { durationMs } from './config-reader.ts'

const v1 = 'apiserver.config.k8s.io/v1'
const issuer = { url: 'https://issuer.example', audiences: ['me'] }
const claimMappings = { username: { claim: 'sub', prefix: 'o:' } }
const jwt = { issuer, claimMappings }
const authentication = (rest: object) => ({ apiVersion: v1, kind: 'AuthenticationConfiguration', ...rest })
const authorization = (...authorizers: object[]) => ({
  apiVersion: v1,
  kind: 'AuthorizationConfiguration',
  authorizers,
})

test('an issuer with its claim mappings', () => {
  const config = authenticationConfig(
    authentication({
      jwt: [
        {
          issuer: { ...issuer, discoveryURL: 'https://elsewhere.example/d', certificateAuthority: 'PEM' },
          claimValidationRules: [{ claim: 'hd', requiredValue: 'example' }],
          claimMappings: { ...claimMappings, groups: { claim: 'roles', prefix: '' }, uid: { claim: 'oid' } },
        },
      ],
      anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    }),
  )
  const [found] = config.issuers
  deepEqual(
    [found?.discoveryUrl, found?.username, found?.groups, found?.uidClaim, found?.requiredClaims],
    [
      'https://elsewhere.example/d',
      { claim: 'sub', prefix: 'o:' },
      { claim: 'roles', prefix: '' },
      'oid',
      [{ claim: 'hd', value: 'example' }],
    ],
  )
  deepEqual(config.anonymous, { enabled: true, paths: ['/livez'] })
  equal(
    authenticationConfig(authentication({ jwt: [jwt] })).issuers[0]?.discoveryUrl,
    'https://issuer.example/.well-known/openid-configuration',
  )
})

const authenticationMistakes: [why: RegExp, config: unknown][] = [
  [/^the configuration must be an object$/, []],
  [/^kind "x" is none of AuthenticationConfiguration$/, { apiVersion: v1, kind: 'x' }],
  [/^jwt\[0\]\.issuer is required$/, authentication({ jwt: [{}] })],
  [
    /^jwt\[0\]\.issuer\.url must begin with https/,
    authentication({ jwt: [{ ...jwt, issuer: { ...issuer, url: 'http://x' } }] }),
  ],
  [
    /^jwt\[0\]\.issuer\.audienceMatchPolicy must be MatchAny/,
    authentication({ jwt: [{ ...jwt, issuer: { ...issuer, audiences: ['a', 'b'] } }] }),
  ],
  [
    /^jwt\[0\]\.claimMappings\.extra\[0\]\.key /,
    authentication({ jwt: [{ issuer, claimMappings: { ...claimMappings, extra: [{}] } }] }),
  ],
  [/^jwt\[0\]\.typo is not a known field$/, authentication({ jwt: [{ ...jwt, typo: 1 }] })],
  [/^jwt names an issuer twice$/, authentication({ jwt: [jwt, jwt] })],
  [
    /^anonymous\.conditions may be set only when enabled is true$/,
    authentication({ anonymous: { enabled: false, conditions: [{ path: '/' }] } }),
  ],
]
for (const [why, config] of authenticationMistakes)
  test(`authentication: ${why.source}`, () => {
    throws(() => authenticationConfig(config), { name: 'ConfigError', message: why })
  })

const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/w' },
}

test('an authorizer chain with a webhook', () => {
  deepEqual(
    authorizationConfig(
      authorization(
        {
          type: 'Webhook',
          name: 'w',
          webhook: { ...webhook, authorizedTTL: '1m30s', cacheUnauthorizedRequests: false },
        },
        { type: 'RBAC', name: 'rbac' },
      ),
    ),
    [
      {
        type: 'Webhook',
        name: 'w',
        webhook: {
          kubeconfigPath: '/w',
          timeoutMs: 3000,
          version: 'v1',
          allowedCacheMs: 90_000,
          deniedCacheMs: 0,
          onFailure: 'Deny',
          conditions: [],
        },
      },
      { type: 'RBAC', name: 'rbac' },
    ],
  )
})

const authorizationMistakes: [why: RegExp, config: unknown][] = [
  [/^authorizers must name at least one$/, authorization()],
  [
    /^authorizers\[1\]\.type RBAC is listed twice$/,
    authorization({ type: 'RBAC', name: 'a' }, { type: 'RBAC', name: 'b' }),
  ],
  [
    /^authorizers\[1\]\.name "a" is listed twice$/,
    authorization({ type: 'RBAC', name: 'a' }, { type: 'Node', name: 'a' }),
  ],
  [/^authorizers\[0\]\.webhook is required$/, authorization({ type: 'Webhook', name: 'a' })],
  [
    /^authorizers\[0\]\.webhook\.timeout must be above 0/,
    authorization({ type: 'Webhook', name: 'a', webhook: { ...webhook, timeout: '31s' } }),
  ],
  [
    /^authorizers\[0\]\.webhook\.matchConditions\[0\]\.expression cannot be used: must evaluate to bool but got string$/,
    authorization({
      type: 'Webhook',
      name: 'a',
      webhook: { ...webhook, matchConditions: [{ expression: 'request.user' }] },
    }),
  ],
  [
    /InClusterConfig is not supported yet$/,
    authorization({ type: 'Webhook', name: 'a', webhook: { ...webhook, connectionInfo: { type: 'InClusterConfig' } } }),
  ],
]
for (const [why, config] of authorizationMistakes)
  test(`authorization: ${why.source}`, () => {
    throws(() => authorizationConfig(config), { name: 'ConfigError', message: why })
  })

test("durations have Go's format", () => {
  deepEqual(['5m', '1h30m', '1.5s', '20ms', '5', 'x', ''].map(durationMs), [
    300_000,
    5_400_000,
    1_500,
    20,
    undefined,
    undefined,
    undefined,
  ])
})
