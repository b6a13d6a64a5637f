// Attacks with tokens against a real issuer on loopback. Each row was also sent to kube-apiserver v1.36.4, which
// decides the same, except for the rows under "stricter".
import { deepEqual, equal, match } from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import {
  serverAnswering,
  signed,
  signedText,
  signedWithSecret,
  type OutsideAnswer,
} from '../outbound/external-server.harness.ts'
import { authenticationConfig } from './authentication-config.ts'
import type { Authentication } from './authenticator.ts'
import { tokenAuthenticators } from './bearer-token.ts'
import { oidc } from './oidc.ts'

const { signal } = new AbortController()
const own = ['api', 'other']
const timeoutMs = 60_000
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const k1 = rsa()
const foreign = rsa()
const unnamed = rsa()
const dupA = rsa()
const dupB = rsa()
const es = ec('P-256')
const es384 = ec('P-384')
const jwk = (key: { publicKey: KeyObject }, more: object = {}): object => ({
  ...key.publicKey.export({ format: 'jwk' }),
  ...more,
})
const published = [
  { kty: 'oct', kid: 'secret', k: 'c2VjcmV0' },
  jwk(k1, { kid: 'k1', use: 'sig', alg: 'RS256' }),
  jwk(es, { kid: 'es' }),
  jwk(es384, { kid: 'es384' }),
  jwk(dupA, { kid: 'dup' }),
  jwk(dupB, { kid: 'dup' }),
  jwk(unnamed),
]

/** One issuer per path, mapped by the structured configuration; `keys` returns their JWKS. */
async function issuers(
  keys: () => OutsideAnswer = () => ({ value: { keys: published } }),
  limitMs = timeoutMs,
  discovered = (url: string): unknown => url,
) {
  const server = await serverAnswering((target) => {
    if (target === '/keys') return keys()
    const name = target.replace('/.well-known/openid-configuration', '')
    return { value: { issuer: discovered(server.origin + name), jwks_uri: `${server.origin}/keys` } }
  })
  const jwt = (name: string, claimMappings: object, more: object = {}) => ({
    issuer: { url: `${server.origin}/${name}`, audiences: ['me'] },
    claimMappings,
    ...more,
  })
  const config = authenticationConfig({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      jwt('plain', {
        username: { claim: 'sub', prefix: '' },
        groups: { claim: 'groups', prefix: '' },
        uid: { claim: 'uid' },
      }),
      jwt(
        'prefixed',
        { username: { claim: 'sub', prefix: 'p:' }, groups: { claim: 'groups', prefix: 'g:' } },
        { claimValidationRules: [{ claim: 'hd', requiredValue: 'x' }] },
      ),
      jwt('email', { username: { claim: 'email', prefix: '' } }),
      jwt(
        'ruled',
        { username: { expression: 'claims.sub' }, groups: { expression: 'claims.groups' } },
        {
          userValidationRules: [
            { expression: "!user.username.startsWith('system:')", message: 'no system names' },
            { expression: "user.groups.all(g, !g.startsWith('system:'))", message: 'no system groups' },
          ],
        },
      ),
    ],
  })
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const outbound = server.connect()
  // The exchange runs in real time; only the pause between two fetches is advanced by the test.
  const serverClock = { ...realClock, nowMs: () => clock.nowMs(), after: realClock.after.bind(realClock) }
  const deps = {
    ownAudiences: own,
    clock,
    crypto: nodeCrypto,
    serverAt: () => ({ outbound, clock: serverClock, timeoutMs: limitMs }),
  }
  const tokens = tokenAuthenticators(config.issuers.map((issuer) => oidc(issuer, deps)))
  const seconds = clock.nowMs() / 1000
  return {
    server,
    clock,
    seconds,
    good: { iss: `${server.origin}/plain`, aud: 'me', sub: 's', uid: 'u', exp: seconds + 3600, iat: seconds },
    at: (name: string) => `${server.origin}/${name}`,
    ask: async (token: string, audiences = own) => tokens.authenticateToken(token, audiences, signal),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const nameOf = (answer: Authentication): string =>
  answer.kind === 'authenticated' ? [answer.user.name, ...answer.user.groups].join('+') : 'rejected'

test('algorithms, keys and headers: only tokens that the issuer signed with a published key are accepted', async () => {
  await using issuer = await issuers()
  const { good, seconds } = issuer
  const claims = JSON.stringify(good)
  const pem = k1.publicKey.export({ format: 'pem', type: 'spki' })
  const withHeader = (header: object, key = k1) =>
    signedText(JSON.stringify({ alg: 'RS256', kid: 'k1', ...header }), claims, key.privateKey)
  const valid = signed(good, k1.privateKey, 'k1')
  const [head = '', body = '', signature = ''] = valid.split('.')
  const none = (alg: string) => `${new TextEncoder().encode(JSON.stringify({ alg })).toBase64()}.${body}.`
  const rows: readonly [why: string, token: string, name: string][] = [
    ['RS256', valid, 's'],
    ['RS512', signed(good, k1.privateKey, 'k1', 'RS512'), 's'],
    ['ES256', signed(good, es.privateKey, 'es', 'ES256'), 's'],
    ['ES384', signed(good, es384.privateKey, 'es384', 'ES384'), 's'],
    ['no algorithm', none('none'), 'rejected'],
    ['alg none in other spellings', none('None'), 'rejected'],
    ['HS256 with the public key as secret', signedWithSecret({ alg: 'HS256', kid: 'k1' }, good, pem), 'rejected'],
    ['HS256 with a published secret', signedWithSecret({ alg: 'HS256', kid: 'secret' }, good, 'secret'), 'rejected'],
    ['RS256 named ES256', signedText('{"alg":"ES256","kid":"k1"}', claims, k1.privateKey), 'rejected'],
    ['ES256 with the key of RS256', signed(good, es.privateKey, 'k1', 'ES256'), 'rejected'],
    ['ES256 named ES384', signedText('{"alg":"ES384","kid":"es"}', claims, es.privateKey), 'rejected'],
    ['the id of another key', signed(good, k1.privateKey, 'es'), 'rejected'],
    ['an unknown key id', signed(good, k1.privateKey, 'zz'), 'rejected'],
    ['no id', signedText('{"alg":"RS256"}', claims, k1.privateKey), 's'],
    ['a key id that is a number', withHeader({ kid: 5 }), 'rejected'],
    ['the first of two keys with one id', signed(good, dupA.privateKey, 'dup'), 's'],
    ['the second of two keys with one id', signed(good, dupB.privateKey, 'dup'), 's'],
    ['a key without id for a token without id', signedText('{"alg":"RS256"}', claims, unnamed.privateKey), 's'],
    ['a key without id for a token with id', signed(good, unnamed.privateKey, 'zz'), 'rejected'],
    ['a foreign key', signed(good, foreign.privateKey, 'k1'), 'rejected'],
    ['a foreign key in the header', withHeader({ kid: '', jwk: jwk(foreign) }, foreign), 'rejected'],
    ['a foreign key behind a jku', withHeader({ jku: issuer.at('evil') }, foreign), 'rejected'],
    ['a critical extension', withHeader({ crit: ['exp'], exp: 1 }), 'rejected'],
    ['crit that is not a list', withHeader({ crit: 'x' }), 'rejected'],
    ['an empty crit', withHeader({ crit: [] }), 's'],
    ['an unencoded payload', withHeader({ b64: false }), 'rejected'],
    ['no signature', `${head}.${body}.`, 'rejected'],
    ['padding', `${valid}=`, 'rejected'],
    ['white space in the signature', `${head}.${body}. ${signature}`, 'rejected'],
    ['a fourth segment', `${valid}.x`, 'rejected'],
    ['claims that are a list', signedText('{"alg":"RS256","kid":"k1"}', '[]', k1.privateKey), 'rejected'],
    ['text after the claims', signedText('{"alg":"RS256","kid":"k1"}', `${claims} x`, k1.privateKey), 'rejected'],
    ['a byte order mark', signedText('{"alg":"RS256","kid":"k1"}', `\ufeff${claims}`, k1.privateKey), 'rejected'],
    [
      'the claims of another token',
      `${head}.${signed({ ...good, sub: 'x', exp: seconds + 1 }, k1.privateKey, 'k1').split('.')[1] ?? ''}.${signature}`,
      'rejected',
    ],
  ]
  for (const [why, token, name] of rows) equal(nameOf(await issuer.ask(token)), name, why)
})

test('claims: types, times, audiences and issuers are checked as upstream', async () => {
  await using issuer = await issuers()
  const { good, seconds } = issuer
  const rows: readonly [claims: object, name: string][] = [
    [{}, 's'],
    [{ exp: seconds }, 'rejected'],
    [{ exp: undefined }, 'rejected'],
    [{ exp: null }, 'rejected'],
    [{ exp: 'soon' }, 'rejected'],
    [{ exp: -1 }, 'rejected'],
    [{ exp: 1e300 }, 'rejected'],
    [{ exp: String(seconds + 3600) }, 's'],
    [{ exp: seconds + 3600.5 }, 's'],
    [{ nbf: seconds + 57 }, 's'],
    [{ nbf: seconds + 277 }, 'rejected'],
    [{ nbf: String(seconds + 400) }, 'rejected'],
    [{ nbf: 'later' }, 'rejected'],
    [{ nbf: {} }, 'rejected'],
    [{ nbf: null }, 's'],
    [{ iat: seconds + 86_400 }, 's'],
    [{ iat: 'x' }, 'rejected'],
    [{ iat: undefined }, 's'],
    [{ aud: 'x' }, 'rejected'],
    [{ aud: ['x', 'me'] }, 's'],
    [{ aud: [] }, 'rejected'],
    [{ aud: undefined }, 'rejected'],
    [{ aud: [1, 'me'] }, 'rejected'],
    [{ aud: { me: 1 } }, 'rejected'],
    [{ iss: `${good.iss}/` }, 'rejected'],
    [{ iss: good.iss.toUpperCase() }, 'rejected'],
    [{ iss: undefined }, 'rejected'],
    [{ iss: ['https://other', good.iss] }, 'rejected'],
    [{ sub: undefined }, 'rejected'],
    [{ sub: 5 }, 'rejected'],
    [{ uid: undefined }, 'rejected'],
    [{ groups: 'one' }, 's+one'],
    [{ groups: null }, 's'],
    [{ groups: [1] }, 'rejected'],
    [{ groups: [['a']] }, 'rejected'],
    [{ groups: { a: 1 } }, 'rejected'],
    // Without a prefix or a rule the issuer may name any user: it is trusted with the whole cluster.
    [{ sub: 'system:admin', groups: ['system:masters'] }, 'system:admin+system:masters'],
    [{ iss: issuer.at('prefixed'), hd: 'x', groups: ['system:masters'] }, 'p:s+g:system:masters'],
    [{ iss: issuer.at('prefixed') }, 'rejected'],
    [{ iss: issuer.at('prefixed'), hd: 'y' }, 'rejected'],
    [{ iss: issuer.at('prefixed'), hd: ['x'] }, 'rejected'],
    [{ iss: issuer.at('email'), email: 'a@x' }, 'a@x'],
    [{ iss: issuer.at('email'), email: 'a@x', email_verified: true }, 'a@x'],
    [{ iss: issuer.at('email'), email: 'a@x', email_verified: false }, 'rejected'],
    [{ iss: issuer.at('email'), email: 'a@x', email_verified: 'true' }, 'rejected'],
    [{ iss: issuer.at('email'), email: 'a@x', email_verified: null }, 'rejected'],
    [{ iss: issuer.at('ruled'), groups: ['a'] }, 's+a'],
    [{ iss: issuer.at('ruled'), sub: 'system:x', groups: [] }, 'rejected'],
    [{ iss: issuer.at('ruled'), groups: ['system:masters'] }, 'rejected'],
    [{ iss: issuer.at('ruled'), sub: '', groups: [] }, 'rejected'],
    // Stricter: upstream accepts a user without a name here.
    [{ sub: '' }, 'rejected'],
    [{ sub: null }, 'rejected'],
  ]
  for (const [claims, name] of rows) {
    const answer = await issuer.ask(signed({ ...good, ...claims }, k1.privateKey, 'k1'))
    equal(nameOf(answer), name, JSON.stringify(claims))
  }
  equal(issuer.server.asked.length, 8, 'discovery and keys, once for each of the four issuers')
})

test('a token that was verified before is valid for the audiences that are requested now', async () => {
  await using issuer = await issuers()
  const token = signed(issuer.good, k1.privateKey, 'k1')
  const audiencesOf = (answer: Authentication) => (answer.kind === 'authenticated' ? answer.audiences : answer.kind)
  deepEqual(audiencesOf(await issuer.ask(token, ['api'])), ['api'])
  deepEqual(audiencesOf(await issuer.ask(token, ['other', 'vault'])), ['other'])
  deepEqual(audiencesOf(await issuer.ask(token, ['vault'])), 'rejected')
})

test('duplicate claims and names of inherited properties do not change the user', async () => {
  await using issuer = await issuers()
  const { good } = issuer
  const rest = JSON.stringify(good).slice(1, -1)
  const header = '{"alg":"RS256","kid":"k1"}'
  const rows: readonly [claims: string, name: string][] = [
    [`{"iss":"https://evil",${rest}}`, 's'],
    [`{${rest},"iss":"https://evil"}`, 'rejected'],
    [`{"sub":"first",${rest}}`, 's'],
    [`{${rest},"sub":"last"}`, 'last'],
    [`{${rest},"__proto__":{"groups":["system:masters"]}}`, 's'],
    [`{${rest},"constructor":{"prototype":{"groups":["system:masters"]}}}`, 's'],
  ]
  for (const [claims, name] of rows)
    equal(nameOf(await issuer.ask(signedText(header, claims, k1.privateKey))), name, claims)
})

test('large tokens and deeply nested claims are limited', async () => {
  await using issuer = await issuers()
  const { good } = issuer
  const nested = (iss: string) =>
    signedText(
      '{"alg":"RS256","kid":"k1"}',
      `${JSON.stringify({ ...good, iss, groups: [] }).slice(0, -1)},"x":${'['.repeat(11_800)}${']'.repeat(11_800)}}`,
      k1.privateKey,
    )
  equal(nameOf(await issuer.ask(nested(issuer.at('plain')))), 's')
  equal(nameOf(await issuer.ask(nested(issuer.at('ruled')))), 's')
  const groups = Array.from({ length: 1000 }, (_, index) => `g${index}`)
  const many = await issuer.ask(signed({ ...good, groups }, k1.privateKey, 'k1'))
  equal(many.kind === 'authenticated' && many.user.groups.length, 1000)
  // Stricter: upstream has no limit here.
  equal(nameOf(await issuer.ask(signed({ ...good, x: 'y'.repeat(40_000) }, k1.privateKey, 'k1'))), 'rejected')
  equal(nameOf(await issuer.ask('a.b.c')), 'rejected')
  equal(nameOf(await issuer.ask('.'.repeat(30_000))), 'rejected')
})

test('many tokens with unknown key ids fetch the keys once in ten seconds', async () => {
  await using issuer = await issuers()
  const { good, clock } = issuer
  const valid = signed(good, k1.privateKey, 'k1')
  const storm = () =>
    Promise.all(
      Array.from({ length: 50 }, (_, index) => issuer.ask(signed(good, foreign.privateKey, `storm-${index}`))),
    )
  const fetches = () => issuer.server.asked.filter((target) => target === 'GET /keys').length
  deepEqual(new Set((await storm()).map(nameOf)), new Set(['rejected']))
  await storm()
  equal(fetches(), 1)
  await clock.advance('11s')
  await storm()
  equal(fetches(), 2)
  equal(nameOf(await issuer.ask(valid)), 's')
})

test('the keys of an issuer that fails later remain valid; a rotated key is found once it responds again', async () => {
  let answer: OutsideAnswer = { value: { keys: [jwk(k1, { kid: 'k1' })] } }
  await using issuer = await issuers(() => answer)
  const { good, clock } = issuer
  const byOld = (sub: string) => issuer.ask(signed({ ...good, sub }, k1.privateKey, 'k1'))
  const byNew = () => issuer.ask(signed(good, es.privateKey, 'es', 'ES256'))
  equal(nameOf(await byOld('1')), '1')
  const broken: readonly OutsideAnswer[] = [
    { status: 500 },
    { value: {} },
    { value: { keys: 'none' } },
    { value: { keys: null } },
    { text: '<html>' },
    { text: 'null' },
    { text: `{"keys":[${'{},'.repeat(600_000)}{}]}` },
    { status: 302, value: { keys: [jwk(es, { kid: 'es' })] } },
  ]
  for (const [index, each] of broken.entries()) {
    answer = each
    await clock.advance('11s')
    match(JSON.stringify(await byNew()), /keys of the issuer are not available/, JSON.stringify(each).slice(0, 80))
    equal(nameOf(await byOld(`after-${index}`)), `after-${index}`)
  }
  answer = { value: { keys: [jwk(es, { kid: 'es' })] } }
  await clock.advance('11s')
  equal(nameOf(await byNew()), 's')
  equal(nameOf(await byOld('revoked')), 'rejected')
})

for (const kind of ['wait', 'stall'] as const)
  test(`an issuer that hangs (${kind}) delays its own tokens for a limited time, and tokens with a known key not at all`, async () => {
    let answer: OutsideAnswer = { value: { keys: [jwk(k1, { kid: 'k1' })] } }
    await using issuer = await issuers(() => answer, 300)
    const { good, clock } = issuer
    equal(nameOf(await issuer.ask(signed(good, k1.privateKey, 'k1'))), 's')
    answer = { [kind]: true }
    await clock.advance('11s')
    const hanging = Promise.all(['a', 'b'].map((kid) => issuer.ask(signed(good, foreign.privateKey, kid))))
    const first = await Promise.race([hanging, issuer.ask(signed({ ...good, sub: 'other' }, k1.privateKey, 'k1'))])
    equal(Array.isArray(first) ? 'the hanging ones' : nameOf(first), 'other')
    for (const each of await hanging) match(JSON.stringify(each), /no response within 300 ms/)
    equal(issuer.server.asked.filter((target) => target === 'GET /keys').length, 2)
  })

for (const [why, other] of [
  ['another name', () => 'https://other'],
  ['a trailing slash', (url: string) => `${url}/`],
  ['no name', () => undefined],
  ['a list', (url: string) => [url]],
] as const)
  test(`a discovery document with ${why} is rejected`, async () => {
    await using issuer = await issuers(undefined, undefined, other)
    match(JSON.stringify(await issuer.ask(signed(issuer.good, k1.privateKey, 'k1'))), /the issuer calls itself/)
    equal(issuer.server.asked.includes('GET /keys'), false)
  })
