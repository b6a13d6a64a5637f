// Authentication as clients see it: ServiceAccount tokens, reviews and impersonation.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { startGuarded, issuer, type GuardedHarness } from '../server-policies.harness.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const pods = '/api/v1/namespaces/default/pods'
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const apiGroup = 'rbac.authorization.k8s.io'
const roleBindings = `/apis/${apiGroup}/v1/namespaces/default/rolebindings`

const withToken = (token: string) => ({ anonymous: 'x', authorization: `Bearer ${token}` })

async function withAccount(server: GuardedHarness): Promise<void> {
  await server.call('POST', accounts, { metadata: { name: 'robot' } })
  await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
  await server.call('POST', pods, {
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'robot', nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  })
}

const tokenFor = async (server: GuardedHarness, spec: object = {}): Promise<string> => {
  const { status, body } = await server.call('POST', `${accounts}/robot/token`, { spec })
  equal(status, 201, JSON.stringify(body))
  return body.status.token as string
}

const ofPod = { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }

const claimsIn = (token: string) =>
  JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })),
  ) as Record<string, unknown>

test('a token authenticates the account, its pod and its node', async () => {
  await using server = await startGuarded()
  await withAccount(server)
  const token = await tokenFor(server, { ...ofPod, expirationSeconds: 600 })
  const { body } = await server.call('POST', selfReviews, {}, withToken(token))
  const { userInfo } = body.status
  equal(userInfo.username, 'system:serviceaccount:default:robot')
  deepEqual(userInfo.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'])
  deepEqual(userInfo.extra['authentication.kubernetes.io/pod-name'], ['p'])
  deepEqual(userInfo.extra['authentication.kubernetes.io/node-name'], ['n1'])
  match(userInfo.extra['authentication.kubernetes.io/credential-id'][0], /^JTI=[0-9a-f-]{36}$/)
  const claims = claimsIn(token)
  deepEqual([claims['iss'], claims['aud'], claims['sub']], [issuer, [issuer], 'system:serviceaccount:default:robot'])
  equal(Number(claims['exp']) - Number(claims['iat']), 600)
  deepEqual(Object.keys(claims['kubernetes.io'] as object).toSorted(), ['namespace', 'node', 'pod', 'serviceaccount'])
  const own = await server.call('GET', pods, undefined, withToken(token))
  equal(
    own.body.message,
    'pods is forbidden: User "system:serviceaccount:default:robot" cannot list resource "pods" in API group "" in the namespace "default"',
  )
  await server.call('POST', roleBindings, {
    metadata: { name: 'v' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  })
  equal((await server.call('GET', pods, undefined, withToken(token))).status, 200)
})

const endings: [why: string, spec: object, end: (server: GuardedHarness) => Promise<unknown>, error: RegExp][] = [
  ['it has expired', { expirationSeconds: 600 }, (server) => server.clock.advance('601s'), /expired/],
  ['it has another audience', { audiences: ['vault'] }, () => Promise.resolve(), /audiences \["vault"\] is invalid/],
  [
    'its pod was deleted',
    ofPod,
    (server) => server.call('DELETE', `${pods}/p?gracePeriodSeconds=0`, undefined),
    /invalidated/,
  ],
  [
    'its pod was replaced under the same name',
    ofPod,
    async (server) => {
      await server.call('DELETE', `${pods}/p?gracePeriodSeconds=0`, undefined)
      await withAccount(server)
    },
    /invalidated/,
  ],
  ['its account was deleted', {}, (server) => server.call('DELETE', `${accounts}/robot`), /invalidated/],
  [
    'its node was deleted',
    { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' } },
    (server) => server.call('DELETE', '/api/v1/nodes/n1'),
    /invalidated/,
  ],
]
for (const [why, spec, end, error] of endings)
  test(`a token is refused with 401 when ${why}`, async () => {
    await using server = await startGuarded()
    await withAccount(server)
    const token = await tokenFor(server, spec)
    const review = async () => (await server.call('POST', reviews, { spec: { token } })).body.status
    if (!('audiences' in spec)) equal((await review()).authenticated, true)
    await end(server)
    const answer = await server.call('GET', pods, undefined, withToken(token))
    deepEqual([answer.status, answer.body.message], [401, 'Unauthorized'])
    match((await review()).error, error)
  })

test('forged and malformed tokens are refused with 401, and no message repeats them', async () => {
  await using server = await startGuarded()
  await withAccount(server)
  const token = await tokenFor(server)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const encode = (value: object) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: 'base64url', omitPadding: true })
  const forged = encode({ ...claimsIn(token), sub: 'system:serviceaccount:default:admin' })
  const broken = [
    'x',
    `${header}.${payload}`,
    `${header}.${forged}.${signature}`,
    `${encode({ alg: 'none' })}.${payload}.`,
    `${encode({ alg: 'HS256' })}.${payload}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
    `${header}.%%%.${signature}`,
    'y'.repeat(100_000),
  ]
  for (const each of broken) {
    const { status, body } = await server.call('GET', pods, undefined, withToken(each))
    deepEqual([status, body.message], [401, 'Unauthorized'], each.slice(0, 40))
  }
  equal((await server.call('GET', pods, undefined, withToken(token))).status, 403)
  const recorded = JSON.stringify([...server.flow.events()])
  for (const secret of [token, payload, signature]) ok(!recorded.includes(secret))
})

test('token requests are validated', async () => {
  await using server = await startGuarded()
  await withAccount(server)
  const ask = async (spec: object, account = 'robot') => {
    const { status, body } = await server.call('POST', `${accounts}/${account}/token`, { spec })
    return [status, body.message]
  }
  deepEqual(await ask({ expirationSeconds: 599 }), [
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ])
  match(
    String((await ask({ expirationSeconds: 2 ** 32 + 1 }))[1]),
    /may not specify a duration larger than 2\^32 seconds$/,
  )
  deepEqual(await ask({}, 'missing'), [404, 'serviceaccounts "missing" not found'])
  deepEqual(await ask({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'none' } }), [
    404,
    'pods "none" not found',
  ])
  equal((await ask({ boundObjectRef: { ...ofPod.boundObjectRef, uid: 'other' } }))[0], 409)
  deepEqual(await ask({ boundObjectRef: { kind: 'Service', apiVersion: 'v1', name: 'x' } }), [
    400,
    'cannot bind token to object of type v1, Kind=Service',
  ])
  await server.call('POST', accounts, { metadata: { name: 'other' } })
  match(String((await ask(ofPod, 'other'))[1]), /to pod running with different serviceaccount name\.$/)
  const { body } = await server.call('POST', `${accounts}/robot/token`, { spec: { ...ofPod, expirationSeconds: 3607 } })
  const claims = claimsIn(body.status.token) as { exp: number; iat: number; 'kubernetes.io': { warnafter: number } }
  deepEqual([claims.exp - claims.iat, claims['kubernetes.io'].warnafter - claims.iat], [31_536_000, 3607])
  equal(body.status.expirationTimestamp, '2030-01-01T01:00:07Z')
  equal((await server.call('GET', `${accounts}/robot/token`)).status, 405)
})

test('the issuer document is served to authorized users', async () => {
  await using server = await startGuarded()
  await withAccount(server)
  const headers = withToken(await tokenFor(server))
  const found = await server.call('GET', '/.well-known/openid-configuration', undefined, headers)
  deepEqual(found.body, {
    issuer,
    jwks_uri: `${issuer}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })
  const keys = await server.call('GET', '/openid/v1/jwks', undefined, headers)
  equal(keys.headers['content-type'], 'application/jwk-set+json')
  match(String(keys.body), /^\{"keys":\[\{"use":"sig","kid":"[\w-]{43}","alg":"ES256","kty":"EC",/)
  doesNotMatch(String(keys.body), /"d":/)
  equal((await server.call('GET', '/openid/v1/jwks', undefined, { anonymous: 'x' })).status, 403)
})

const impersonations: [why: string, headers: Record<string, string>, status: number, text: string][] = [
  ['a user', { 'impersonate-user': 'jane' }, 201, 'jane [system:authenticated] '],
  [
    'a user with groups, uid and extra values',
    {
      'impersonate-user': 'jane',
      'impersonate-group': 'a, b;c',
      'impersonate-uid': '7',
      'impersonate-extra-sc%2fope': 'x;y',
    },
    201,
    'jane [a, b,c,system:authenticated] 7{"sc/ope":["x","y"]}',
  ],
  [
    'an account with its groups',
    { 'impersonate-user': 'system:serviceaccount:default:robot' },
    201,
    'system:serviceaccount:default:robot [system:serviceaccounts,system:serviceaccounts:default,system:authenticated] ',
  ],
  ['missing', { 'impersonate-user': 'system:anonymous' }, 403, ''],
  ['groups without a user', { 'impersonate-group': 'a' }, 400, ''],
]
for (const [why, headers, status, text] of impersonations)
  test(`an administrator impersonates ${why}`, async () => {
    await using server = await startGuarded()
    const answer = await server.call('POST', selfReviews, {}, headers)
    equal(answer.status, status, JSON.stringify(answer.body))
    if (status !== 201) return
    const { username, groups, uid = '', extra } = answer.body.status.userInfo
    equal(`${username} [${groups}] ${uid}${extra === undefined ? '' : JSON.stringify(extra)}`, text)
  })

test('permission to impersonate one user does not cover other users or groups', async () => {
  await using server = await startGuarded()
  await server.call('POST', `/apis/${apiGroup}/v1/clusterroles`, {
    metadata: { name: 'as-jane' },
    rules: [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['jane'] }],
  })
  await server.call('POST', `/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: 'as-jane' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'as-jane' },
    subjects: [{ kind: 'User', apiGroup, name: 'bob' }],
  })
  const as = async (headers: Record<string, string>) => {
    const { status, body } = await server.call('POST', selfReviews, {}, { as: 'bob', ...headers })
    return [status, body.message]
  }
  equal((await as({ 'impersonate-user': 'jane' }))[0], 201)
  deepEqual(await as({ 'impersonate-user': 'root' }), [
    403,
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "bob" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  ])
  deepEqual(await as({ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }), [
    403,
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "bob" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  ])
})

test('reviews can only be created', async () => {
  await using server = await startGuarded()
  equal((await server.call('GET', selfReviews)).status, 405)
  equal((await server.call('POST', reviews, { spec: {} })).status, 400)
  deepEqual((await server.call('POST', reviews, { spec: { token: 'x' } })).body.status, {
    user: {},
    error: 'invalid bearer token',
  })
  const list = await server.call('GET', '/apis/authentication.k8s.io/v1')
  deepEqual(
    list.body.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs]),
    [
      ['selfsubjectreviews', ['create']],
      ['tokenreviews', ['create']],
    ],
  )
})
