// The published attacks on verifiers of JSON Web Tokens as a table, by the names under which they are known (RFC 8725 and
// the CVEs of libraries). oidc-attacks.test.ts sends the ones that concern issuers through the whole authenticator.
import { deepEqual, equal } from 'node:assert/strict'
import { createSign, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { signed, signedText, signedWithSecret } from '../outbound/external-server.harness.ts'
import { audiencesOf, isSignedBy, keyIdOf, parseToken, signToken } from './json-web-token.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const keys = [rsa, ec].map(({ publicKey }) => nodeCrypto.loadPublicKey(publicKey.export({ format: 'jwk' })))
const claims = { sub: 'admin' }
const text = JSON.stringify(claims)
const base64url = (value: string | Uint8Array): string =>
  (typeof value === 'string' ? new TextEncoder().encode(value) : value).toBase64({
    alphabet: 'base64url',
    omitPadding: true,
  })
const withHeader = (header: object, key: KeyObject = rsa.privateKey): string =>
  signedText(JSON.stringify({ alg: 'RS256', kid: 'k', ...header }), text, key)
const valid = signed(claims, rsa.privateKey, 'k')
const [header = '', payload = '', signature = ''] = valid.split('.')
const ecSigned = `${base64url('{"alg":"ES256"}')}.${payload}`
/** Order of the curve P-256. */
const order = Uint8Array.fromHex('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' })
const der = rsa.publicKey.export({ format: 'der', type: 'spki' })

/** Claims that a verifier may use; undefined when the token is rejected. */
function verified(token: string): unknown {
  const parsed = parseToken(token)
  return parsed !== undefined && isSignedBy(parsed, keys) ? parsed.claims : undefined
}

const accepted: readonly (readonly [name: string, token: string])[] = [
  ['RS256', valid],
  ['ES256 with a raw signature', signed(claims, ec.privateKey, 'k', 'ES256')],
  ['an empty list of critical extensions', withHeader({ crit: [] })],
  ['b64 that is true and critical', withHeader({ crit: ['b64'], b64: true })],
  ['unknown headers', withHeader({ typ: 'JWT', cty: 'x', x5t: 'x' })],
  [
    'a key in the header is ignored if a known key signed',
    withHeader({ jwk: attacker.publicKey.export({ format: 'jwk' }) }),
  ],
]
for (const [name, token] of accepted) test(`accepted: ${name}`, () => deepEqual(verified(token), claims))

const attacks: readonly (readonly [name: string, token: string])[] = [
  // Algorithms
  ...['none', 'None', 'NONE', 'nOnE', ''].map(
    (alg) =>
      [`alg ${JSON.stringify(alg)} without a signature`, `${base64url(JSON.stringify({ alg }))}.${payload}.`] as const,
  ),
  ['alg none with a signature', `${base64url('{"alg":"none"}')}.${payload}.${signature}`],
  ['no alg', `${base64url('{"kid":"k"}')}.${payload}.${signature}`],
  ['alg that is a list', `${base64url('{"alg":["RS256"]}')}.${payload}.${signature}`],
  ['HS256 with the PEM of the public key as secret', signedWithSecret({ alg: 'HS256', kid: 'k' }, claims, pem)],
  [
    'HS256 with the DER of the public key as secret',
    signedWithSecret({ alg: 'HS256' }, claims, der.toString('latin1')),
  ],
  ['HS256 with an empty secret', signedWithSecret({ alg: 'HS256' }, claims, '')],
  [
    'EdDSA, which is not supported',
    `${base64url('{"alg":"EdDSA"}')}.${payload}.${base64url(sign(null, new TextEncoder().encode(`${base64url('{"alg":"EdDSA"}')}.${payload}`), ed.privateKey))}`,
  ],
  ['ES256 with a signature of the RSA key', signedText('{"alg":"ES256"}', text, rsa.privateKey)],
  ['RS256 with a signature of the EC key', signedText('{"alg":"RS256"}', text, ec.privateKey)],
  ['PS256 with a PKCS 1 signature', signedText('{"alg":"PS256"}', text, rsa.privateKey)],
  ['RS512 with a SHA-256 signature', signedText('{"alg":"RS512"}', text, rsa.privateKey)],
  ['ES384 with a key of P-256', signedText('{"alg":"ES384"}', text, ec.privateKey, 'ES384')],
  // Keys that the token brings
  [
    'an embedded jwk (CVE-2018-0114)',
    withHeader({ jwk: attacker.publicKey.export({ format: 'jwk' }) }, attacker.privateKey),
  ],
  ['a jku of the attacker', withHeader({ jku: 'https://attacker.example/keys' }, attacker.privateKey)],
  ['an x5u of the attacker', withHeader({ x5u: 'https://attacker.example/chain' }, attacker.privateKey)],
  ['an x5c of the attacker', withHeader({ x5c: [der.toString('base64')] }, attacker.privateKey)],
  ['a kid with a path', withHeader({ kid: '../../../../dev/null' }, attacker.privateKey)],
  ['a kid with SQL', withHeader({ kid: "x' UNION SELECT 'key" }, attacker.privateKey)],
  ['a kid named __proto__', withHeader({ kid: '__proto__' }, attacker.privateKey)],
  ['a kid that is not a string', withHeader({ kid: { key: 'k' } })],
  // Extensions
  ['an unknown critical extension', withHeader({ crit: ['exp'], exp: 1 })],
  ['a critical extension beside b64', withHeader({ crit: ['b64', 'x'], b64: true })],
  ['crit that is not a list', withHeader({ crit: 'b64' })],
  ['crit that is null', withHeader({ crit: null })],
  ['b64 false with an encoded payload', withHeader({ b64: false, crit: ['b64'] })],
  ['b64 false with a plain payload', `${base64url('{"alg":"RS256","b64":false,"crit":["b64"]}')}.${text}.${signature}`],
  ['zip with a compressed payload', signedBytes('{"alg":"RS256","zip":"DEF"}', deflateRawSync(text))],
  // Signatures
  ['an ES256 signature (0, 0) (CVE-2022-21449)', `${ecSigned}.${base64url(new Uint8Array(64))}`],
  ['an ES256 signature (n, n)', `${ecSigned}.${base64url(Uint8Array.from([...order, ...order]))}`],
  [
    'an ES256 signature (1, 0)',
    `${ecSigned}.${base64url(Uint8Array.from({ length: 64 }, (_, at) => (at === 31 ? 1 : 0)))}`,
  ],
  ['an ES256 signature in DER', `${ecSigned}.${base64url(createSign('sha256').update(ecSigned).sign(ec.privateKey))}`],
  ['an ES256 signature with an additional byte', `${signed(claims, ec.privateKey, 'k', 'ES256')}AA`],
  ['no signature', `${header}.${payload}.`],
  ['half of the signature', `${header}.${payload}.${signature.slice(0, signature.length / 2)}`],
  [
    'a signature with leading zeros',
    `${header}.${payload}.${base64url(Uint8Array.from([0, 0, ...Uint8Array.fromBase64(signature, { alphabet: 'base64url' })]))}`,
  ],
  ['the signature of another payload', `${header}.${base64url('{"sub":"other"}')}.${signature}`],
  ['the signature of another header', `${base64url('{"alg":"RS256","kid":"other"}')}.${payload}.${signature}`],
  // Forms
  ['five parts, as an encrypted token has', `${header}.x.x.${payload}.${signature}`],
  ['two parts', `${header}.${payload}`],
  ['the JSON serialization', JSON.stringify({ protected: header, payload, signature })],
  ['padding', `${header}=.${payload}.${signature}`],
  ['the alphabet of plain base64', `${header}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`],
  ['white space', `${header}.${payload}.\n${signature}`],
  ['a null byte', `${header}.${payload}\0.${signature}`],
  ['a payload that is not UTF-8 JSON', signedBytes('{"alg":"RS256"}', Uint8Array.of(0xff, 0xfe, 0x7b))],
  ['a payload that is a list', signedText('{"alg":"RS256"}', '[]', rsa.privateKey)],
  ['a payload that is null', signedText('{"alg":"RS256"}', 'null', rsa.privateKey)],
  ['a token of more than 32,768 characters', signed({ ...claims, filler: 'x'.repeat(40_000) }, rsa.privateKey, 'k')],
]

function signedBytes(head: string, body: Uint8Array): string {
  const data = `${base64url(head)}.${base64url(body)}`
  return `${data}.${base64url(sign('sha256', new TextEncoder().encode(data), rsa.privateKey))}`
}

for (const [name, token] of attacks) test(`rejected: ${name}`, () => equal(verified(token), undefined))

test('the last of duplicate members is used, in headers and in claims', () => {
  equal(verified(signedText('{"alg":"RS256","alg":"none"}', text, rsa.privateKey)), undefined)
  deepEqual(verified(signedText('{"alg":"none","alg":"RS256"}', text, rsa.privateKey)), claims)
  deepEqual(verified(signedText('{"alg":"RS256"}', '{"sub":"first","sub":"last"}', rsa.privateKey)), { sub: 'last' })
})

test('claims named like object properties set no prototype', () => {
  const found = verified(signedText('{"alg":"RS256"}', '{"__proto__":{"admin":true}}', rsa.privateKey)) as object
  equal('admin' in found && !Object.hasOwn(found, 'admin'), false)
  equal(Object.getPrototypeOf(found), Object.prototype)
})

test('a published key with a huge exponent verifies nothing', () => {
  const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), e: base64url(new Uint8Array(2048).fill(255)) }
  const parsed = parseToken(valid)
  equal(parsed !== undefined && isSignedBy(parsed, [nodeCrypto.loadPublicKey(jwk)]), false)
})

test('tokens of signToken are accepted and have the id of its key', () => {
  const pair = nodeCrypto.generateKey()
  const id = keyIdOf(pair.publicKey, nodeCrypto)
  const parsed = parseToken(signToken(claims, id, pair))
  deepEqual([parsed?.algorithm, parsed?.keyId, parsed?.claims], ['ES256', id, claims])
  equal(parsed !== undefined && isSignedBy(parsed, [nodeCrypto.loadPublicKey(pair.publicKey)]), true)
})

test('audiences are a string or a list of strings; other values are ignored', () => {
  deepEqual(audiencesOf({ aud: 'a' }), ['a'])
  deepEqual(audiencesOf({ aud: ['a', 1, 'b'] }), ['a', 'b'])
  deepEqual(audiencesOf({ aud: { a: 1 } }), [])
  deepEqual(audiencesOf({}), [])
})
