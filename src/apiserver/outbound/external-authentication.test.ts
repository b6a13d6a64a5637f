// Authentication with external sources: token files, proxies and bootstrap tokens, and issuers and webhooks as real
// HTTPS servers on loopback.
import { deepEqual, equal, match } from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { secret } from '../../api/core/v1/secret.ts'
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import type { ClientAuthority } from '../../platform/http/listener.ts'
import type { Presented } from '../request/request.ts'
import { TestCaches } from '../watch-cache/caches.harness.ts'
import { authorizerCondition } from '../authorization/webhook-authorizer-conditions.ts'
import { webhookAuthorizer } from '../authorization/webhook-authorizer.ts'
import { ConfigReader } from '../config/config-reader.ts'
import { serverAnswering, signed } from './external-server.harness.ts'
import { resourceAttributes, type AccessAttributes } from '../authorization/attributes.ts'
import { userWithName } from '../request/request.ts'
import type { Authentication } from '../authentication/authenticator.ts'
import { bootstrapTokens } from '../authentication/bootstrap-tokens.ts'
import { frontProxy, frontProxyDefaults } from '../authentication/front-proxy.ts'
import { oidc, type JwtIssuer } from '../authentication/oidc.ts'
import { tokenFile } from '../authentication/token-file.ts'
import { tokenWebhook } from '../authentication/token-webhook.ts'

const { signal } = new AbortController()
const own = ['api']
/** Long enough that only the servers that are meant to be slow time out. */
const patientMs = 60_000
const textOf = (answer: Authentication): string =>
  answer.kind === 'authenticated'
    ? `${answer.user.name}/${answer.user.uid}/${answer.user.groups.join('+')}`
    : answer.kind === 'rejected'
      ? answer.reason
      : answer.kind

test('static tokens have a user, uid and groups', async () => {
  const tokens = tokenFile('t1,alice,1,"dev,ops"\n\nt2, bob ,2\n"t,3","eve ""x""",3,one\n', own, nodeCrypto)
  const ask = async (token: string, audiences = own) => textOf(await tokens.authenticateToken(token, audiences, signal))
  deepEqual(await Promise.all(['t1', 't2', 't,3', 't4'].map((token) => ask(token))), [
    'alice/1/dev+ops',
    'bob/2/',
    'eve "x"/3/one',
    'unknown',
  ])
  match(await ask('t1', ['vault']), /not meant for these audiences/)
})

const bootstrapCases: [why: string, data: Record<string, string>, answer: string][] = [
  [
    'a valid one',
    { 'auth-extra-groups': 'system:bootstrappers:workers' },
    'system:bootstrap:abcdef//system:bootstrappers+system:bootstrappers:workers',
  ],
  ['another secret', { 'token-secret': '0123456789abcdee' }, 'the bootstrap token is not valid'],
  ['one that has expired', { expiration: '2029-12-31T00:00:00Z' }, 'the bootstrap token has expired'],
  ['one with an invalid expiration', { expiration: 'soon' }, 'the bootstrap token has expired'],
  [
    'one for another use',
    { 'usage-bootstrap-authentication': 'false' },
    'the bootstrap token is not meant for authentication',
  ],
  [
    'one with groups outside system:bootstrappers',
    { 'auth-extra-groups': 'system:masters' },
    'the groups of the bootstrap token are not valid',
  ],
]
for (const [why, change, expected] of bootstrapCases)
  test(`a bootstrap token: ${why}`, async () => {
    const caches = new TestCaches()
    const plain = {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      ...change,
    }
    const data = Object.fromEntries(
      Object.entries(plain).map(([key, value]) => [key, new TextEncoder().encode(value).toBase64()]),
    )
    const metadata = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }
    caches.set(secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'bootstrap.kubernetes.io/token',
      data,
    } as never)
    const tokens = bootstrapTokens(caches, own, new VirtualClock(Date.UTC(2030, 0, 1)), nodeCrypto)
    equal(textOf(await tokens.authenticateToken('abcdef.0123456789abcdef', own, signal)), expected)
    equal(textOf(await tokens.authenticateToken('fedcba.0123456789abcdef', own, signal)), 'no such bootstrap token')
    equal(textOf(await tokens.authenticateToken('no bootstrap token', own, signal)), 'unknown')
  })

const presented = (
  commonName: string,
  trustedFor: readonly ClientAuthority[],
  headers: Record<string, string[]>,
): Presented => ({
  kind: 'presented',
  certificate: { commonName, organizations: [], fingerprint: '', trustedFor, validToMs: Date.UTC(2100, 0) },
  headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')])),
  headerValues: (name) => headers[name] ?? [],
})

test('a front proxy authenticates its users; its headers from other clients are ignored', async () => {
  const proxies = frontProxy(frontProxyDefaults, own)
  const headers = {
    'x-remote-user': ['jane'],
    'x-remote-group': ['a, b', 'c'],
    'x-remote-uid': ['7'],
    'x-remote-extra-k%2fx': ['v'],
  }
  const ask = async (name: string, trustedFor: readonly ClientAuthority[], sent: Record<string, string[]> = headers) =>
    proxies.authenticate(presented(name, trustedFor, sent), signal)
  const answer = await ask('front-proxy-client', ['proxies'])
  equal(textOf(answer), 'jane/7/a, b+c')
  deepEqual(answer.kind === 'authenticated' && answer.user.extra, { 'k/x': ['v'] })
  equal(textOf(await ask('front-proxy-client', ['users'])), 'unknown')
  equal(textOf(await ask('other-proxy', ['proxies'])), 'the proxy "other-proxy" is not allowed')
  equal(textOf(await ask('front-proxy-client', ['proxies'], {})), 'unknown')
  equal(textOf(await ask('front-proxy-client', ['users', 'proxies'])), 'jane/7/a, b+c')
  equal(textOf(await ask('front-proxy-client', ['users', 'proxies'], {})), 'unknown')
  equal(textOf(await ask('jane', ['users', 'proxies'])), 'unknown')
})

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

test('an OpenID issuer is discovered, its keys rotate, its claims are mapped and checked', async () => {
  const first = rsa()
  const second = rsa()
  const foreign = rsa()
  const published = new Map([['k1', first.publicKey]])
  await using server = await serverAnswering((target) => {
    if (target === '/.well-known/openid-configuration')
      return { value: { issuer: server.origin, jwks_uri: `${server.origin}/keys` } }
    const keys = [...published].map(([kid, key]) => ({
      ...key.export({ format: 'jwk' }),
      kid,
      use: 'sig',
      alg: 'RS256',
    }))
    return { value: { keys: [{ kty: 'XX', kid: 'odd' }, ...keys] } }
  })
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const issuer: JwtIssuer = {
    url: server.origin,
    discoveryUrl: `${server.origin}/.well-known/openid-configuration`,
    certificateAuthority: '',
    audiences: ['me'],
    algorithms: ['RS256'],
    requiredClaims: [{ claim: 'hd', value: 'example' }],
    username: { claim: 'email', prefix: 'oidc:' },
    groups: { claim: 'roles', prefix: 'g:' },
    uidClaim: 'sub',
  }
  const outbound = server.connect()
  const tokens = oidc(issuer, {
    ownAudiences: own,
    clock,
    crypto: nodeCrypto,
    serverAt: () => ({ outbound, clock: realClock, timeoutMs: patientMs }),
  })
  const seconds = clock.nowMs() / 1000
  const good = {
    iss: server.origin,
    aud: 'me',
    sub: 's1',
    exp: seconds + 600,
    email: 'a@x',
    hd: 'example',
    roles: ['r1', 'r2'],
  }
  const ask = async (claims: object, key = first.privateKey, kid = 'k1', alg = 'RS256') =>
    textOf(await tokens.authenticateToken(signed(claims, key, kid, alg), own, signal))
  equal(await ask(good), 'oidc:a@x/s1/g:r1+g:r2')
  equal(await ask({ ...good, roles: 'one' }), 'oidc:a@x/s1/g:one')
  equal(await ask({ ...good, iss: 'https://other' }), 'unknown')
  const refusals: [object, RegExp][] = [
    [{ exp: seconds - 1 }, /token is expired/],
    [{ nbf: seconds + 61 }, /not valid yet/],
    [{ aud: ['other'] }, /expected audience in \["me"\] got \["other"\]/],
    [{ hd: 'elsewhere' }, /required claim hd/],
    [{ email: undefined }, /parse username claims "email": claim not present/],
    [{ email_verified: false }, /email not verified/],
    [{ roles: [1] }, /parse groups claim "roles"/],
    [{ sub: 5 }, /sub must be a string/],
    [{ sub: undefined }, /parse uid claim "sub"/],
  ]
  for (const [change, why] of refusals) match(await ask({ ...good, ...change }), why)
  match(await ask(good, foreign.privateKey), /failed to verify signature/)
  match(await ask(good, first.privateKey, 'k1', 'PS256'), /unexpected algorithm PS256/)
  equal(server.asked.length, 2, 'the keys were fetched once')
  published.set('k2', second.publicKey)
  equal(await ask(good, second.privateKey, 'k2'), 'oidc: verify token: failed to verify signature')
  equal(server.asked.length, 2, 'and not again within seconds')
})

test('keys that an issuer adds are found by the first token that names one', async () => {
  const first = rsa()
  const second = rsa()
  const published = new Map([['k1', first.publicKey]])
  await using server = await serverAnswering((target) =>
    target === '/d'
      ? { value: { issuer: server.origin, jwks_uri: `${server.origin}/keys` } }
      : { value: { keys: [...published].map(([kid, key]) => ({ ...key.export({ format: 'jwk' }), kid })) } },
  )
  const outbound = server.connect()
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  // The exchange runs in real time; only the pause between two fetches is advanced.
  const serverClock = {
    ...realClock,
    nowMs: () => clock.nowMs(),
    after: (ms: number, callback: () => void) => realClock.after(ms, callback),
  }
  const issuer: JwtIssuer = {
    url: server.origin,
    discoveryUrl: `${server.origin}/d`,
    certificateAuthority: '',
    audiences: ['me'],
    algorithms: ['RS256'],
    requiredClaims: [],
    username: { claim: 'sub', prefix: '' },
    groups: undefined,
    uidClaim: '',
  }
  const tokens = oidc(issuer, {
    ownAudiences: own,
    clock,
    crypto: nodeCrypto,
    serverAt: () => ({ outbound, clock: serverClock, timeoutMs: patientMs }),
  })
  const claims = { iss: server.origin, aud: ['me', 'x'], sub: 's1', exp: clock.nowMs() / 1000 + 6000 }
  const ask = async (key: KeyObject, kid: string) =>
    textOf(await tokens.authenticateToken(signed(claims, key, kid), own, signal))
  equal(await ask(first.privateKey, 'k1'), 's1//')
  published.delete('k1')
  published.set('k2', second.publicKey)
  await clock.advance('11s')
  equal(await ask(second.privateKey, 'k2'), 's1//')
  await clock.advance('11s')
  match(await ask(first.privateKey, 'k1'), /failed to verify signature/)
})

test('an issuer with a wrong certificate, or with another issuer name, is rejected', async () => {
  const key = rsa()
  await using server = await serverAnswering(() => ({
    value: { issuer: 'https://other', jwks_uri: 'https://other/keys' },
  }))
  const wrongCa = Authority.create('x', { clock: realClock, random: systemRandom, crypto: nodeCrypto }).certificate
  const issuer = {
    url: server.origin,
    discoveryUrl: `${server.origin}/d`,
    audiences: ['me'],
    algorithms: ['RS256'],
  } as unknown as JwtIssuer
  const claims = { iss: server.origin, aud: 'me', sub: 's1', exp: Math.floor(realClock.nowMs() / 1000) + 600 }
  const ask = async (ca?: string) => {
    const outbound = server.connect(server.origin, ca)
    const deps = {
      ownAudiences: own,
      clock: realClock,
      crypto: nodeCrypto,
      serverAt: () => ({ outbound, clock: realClock, timeoutMs: patientMs }),
    }
    return textOf(await oidc(issuer, deps).authenticateToken(signed(claims, key.privateKey, 'k'), own, signal))
  }
  match(await ask(), /the issuer calls itself "https:\/\/other"/)
  match(await ask(wrongCa), /keys of the issuer are not available/)
})

test('responses of a token webhook are cached, and its failure authenticates no user', async () => {
  await using server = await serverAnswering((_, body) => {
    const { spec, apiVersion } = JSON.parse(body) as {
      spec: { token: string; audiences: string[] }
      apiVersion: string
    }
    equal(apiVersion, 'authentication.k8s.io/v1')
    if (spec.token === 'broken') return { status: 500 }
    if (spec.token === 'slow') return { wait: true }
    if (spec.token === 'bad') return { value: { status: { authenticated: false, error: 'who?' } } }
    const audiences = spec.token === 'vault' ? ['vault'] : spec.audiences
    return {
      value: { status: { authenticated: true, user: { username: spec.token, uid: '1', groups: ['w'] }, audiences } },
    }
  })
  const outbound = server.connect()
  const webhook = (timeoutMs: number) =>
    tokenWebhook({
      server: { outbound, clock: realClock, timeoutMs },
      target: '/authenticate?x=1',
      version: 'v1',
      cacheMs: 60_000,
      ownAudiences: own,
      crypto: nodeCrypto,
    })
  const patient = webhook(patientMs)
  const ask = async (token: string, asked = patient) => textOf(await asked.authenticateToken(token, own, signal))
  deepEqual([await ask('alice'), await ask('alice'), await ask('bad')], ['alice/1/w', 'alice/1/w', 'who?'])
  deepEqual(server.asked, ['POST /authenticate?x=1', 'POST /authenticate?x=1'])
  match(await ask('vault'), /not meant for these audiences/)
  match(await ask('broken'), /the token webhook failed: the webhook responded with 500/)
  match(await ask('slow', webhook(300)), /the token webhook failed: no response within 300 ms/)
})

test('an authorization webhook decides, is cached, and fails as configured', async () => {
  const bodies: { user: string; resourceAttributes?: object; nonResourceAttributes?: object }[] = []
  await using server = await serverAnswering((_, body) => {
    const { spec } = JSON.parse(body) as { spec: (typeof bodies)[number] }
    bodies.push(spec)
    if (spec.user === 'broken') return { status: 503 }
    if (spec.user === 'odd') return { value: { status: { allowed: true, denied: true } } }
    return {
      value: { status: { allowed: spec.user === 'yes', denied: spec.user === 'no', reason: `is ${spec.user}` } },
    }
  })
  const outbound = server.connect()
  const options = {
    name: 'w',
    server: { outbound, clock: realClock, timeoutMs: patientMs },
    target: '/authorize',
    version: 'v1',
    allowedCacheMs: 60_000,
    deniedCacheMs: 60_000,
    crypto: nodeCrypto,
    conditions: [],
  } as const
  const open = webhookAuthorizer({ ...options, onFailure: 'NoOpinion' })
  const closed = webhookAuthorizer({ ...options, onFailure: 'Deny' })
  const pods = (name: string): AccessAttributes =>
    resourceAttributes(userWithName(name, ['g']), 'get', { version: 'v1', resource: 'pods', namespace: 'ns' })
  const ask = async (webhook: typeof open, asked: AccessAttributes) => {
    const decision = await webhook.authorize(asked, signal)
    return `${decision.kind}: ${decision.reason()}`
  }
  for (let times = 0; times < 2; times++) {
    equal(await ask(open, pods('yes')), 'allowed: is yes')
    equal(await ask(open, pods('no')), 'denied: is no')
    equal(await ask(open, pods('other')), 'noOpinion: is other')
  }
  equal(bodies.length, 3)
  deepEqual(bodies[0], {
    user: 'yes',
    groups: ['g'],
    resourceAttributes: { namespace: 'ns', verb: 'get', version: 'v1', resource: 'pods' },
  })
  await ask(open, { kind: 'path', user: userWithName('yes'), verb: 'get', path: '/metrics' })
  deepEqual(bodies.at(-1)?.nonResourceAttributes, { path: '/metrics', verb: 'get' })
  equal(await ask(open, pods('broken')), 'noOpinion: webhook "w" failed: the webhook responded with 503')
  equal(await ask(closed, pods('broken')), 'denied: webhook "w" failed: the webhook responded with 503')
  equal(await ask(closed, pods('odd')), 'denied: webhook subject access review returned both allow and deny response')
  equal(open.rulesFor(userWithName('yes'), '').incomplete, true)
  const asked = bodies.length
  const conditional = (expression: string) =>
    webhookAuthorizer({
      ...options,
      onFailure: 'Deny',
      conditions: [authorizerCondition(new ConfigReader({ expression }))],
    })
  equal(await ask(conditional(`request.resourceAttributes.namespace == 'other'`), pods('yes')), 'noOpinion: ')
  match(
    await ask(conditional(`request.nonResourceAttributes.path == '/'`), pods('yes')),
    /^denied: webhook "w" failed: cel evaluation error: expression .* resulted in error: no such key: nonResourceAttributes$/,
  )
  equal(bodies.length, asked)
  const met = conditional(`has(request.resourceAttributes) && 'g' in request.groups && request.user == 'yes'`)
  equal(await ask(met, pods('yes')), 'allowed: is yes')
})
