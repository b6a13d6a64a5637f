import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import {
  joinCommand,
  joinServer,
  keyHash,
  parseJoinToken,
  pinnedAuthorities,
  pinnedToken,
  serverJoinCommand,
  tokenIdOf,
  type JoinToken,
} from './join-token-text.ts'

const credential = 'abcdef.0123456789abcdef'
const newAuthority = () =>
  Authority.create('kubernetes', { clock: realClock, random: systemRandom, crypto: nodeCrypto }).certificate
const ours = newAuthority()
const other = newAuthority()
const third = newAuthority()

test('the hashes are those of openssl and sha256sum', () => {
  const digest = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
  equal(pinnedToken(credential, ours, nodeCrypto), `K10${digest(ours)}::${credential}`)
  const key = new X509Certificate(ours).publicKey.export({ type: 'spki', format: 'der' })
  equal(keyHash(ours, nodeCrypto), `sha256:${digest(key)}`)
})

function whyOther(token: JoinToken, authorities: string): string {
  const found = pinnedAuthorities(token, authorities, nodeCrypto)
  return found.kind === 'other' ? found.why : 'they are trusted'
}

const accepted: [what: string, text: string, hashes: string[]][] = [
  ["k3s' form", pinnedToken(credential, ours, nodeCrypto), []],
  ["k3s' form with a colon", pinnedToken(credential.replace('.', ':'), ours, nodeCrypto), []],
  ["kubeadm's form", credential, [keyHash(ours, nodeCrypto)]],
  [
    'one of several hashes',
    credential,
    [keyHash(third, nodeCrypto), keyHash(ours, nodeCrypto).toUpperCase().replace('SHA', 'sha')],
  ],
  ['both forms', pinnedToken(credential, ours, nodeCrypto), [keyHash(ours, nodeCrypto)]],
]
for (const [what, text, hashes] of accepted)
  test(`accepted: ${what}`, () => {
    const token = parseJoinToken(text, hashes)
    deepEqual([token.id, token.credential], ['abcdef', credential])
    const found = pinnedAuthorities(token, ours, nodeCrypto)
    equal(found.kind === 'trusted' && found.authorities.trim(), ours.trim())
    match(whyOther(token, other), /of its CA has the hash|its CA has the hash/)
  })

test('of several authorities, only those of the hashes are trusted', () => {
  const token = parseJoinToken(credential, [keyHash(ours, nodeCrypto)])
  deepEqual(pinnedAuthorities(token, `${other}${ours}`, nodeCrypto), { kind: 'trusted', authorities: ours })
})

test('an authority that is added to those of the token is not trusted', () => {
  match(whyOther(parseJoinToken(pinnedToken(credential, ours, nodeCrypto), []), `${ours}${other}`), /has the hash/)
})

test('both pins must be those of the cluster', () => {
  const token = parseJoinToken(pinnedToken(credential, ours, nodeCrypto), [keyHash(third, nodeCrypto)])
  match(whyOther(token, ours), /none of --discovery-token-ca-cert-hash is this one/)
})

const pinned = pinnedToken(credential, ours, nodeCrypto)
const rejected: [what: string, text: string, hashes: string[], message: RegExp][] = [
  ['without a pin', credential, [], /does not contain the hash of the CA/],
  ['a short secret', 'abcdef.0123', [], /--token has none of the forms/],
  ['capitals', pinned.replace('abcdef', 'ABCDEF'), [], /--token has none of the forms/],
  ['a user of k3s', pinned.replace('abcdef.', 'node:'), [], /--token has none of the forms/],
  ['a short hash', pinned.replace('K10', 'K1'), [], /--token has none of the forms/],
  ['a line break', `${pinned}\n`, [], /--token has none of the forms/],
  ['a hash without its algorithm', credential, ['0'.repeat(64)], /has not the form sha256:/],
  ['a hash of another algorithm', credential, [`sha512:${'0'.repeat(64)}`], /has not the form sha256:/],
]
for (const [what, text, hashes, message] of rejected)
  test(`rejected, without the secret in the message: ${what}`, () =>
    throws(
      () => parseJoinToken(text, hashes),
      (error: Error) => message.test(error.message) && !error.message.includes('0123456789abcdef'),
    ))

test('the id of a token', () => {
  for (const text of ['abcdef', credential, pinned, pinned.replace('.', ':')]) equal(tokenIdOf(text), 'abcdef')
  for (const text of ['', 'abc', 'abcdef.', 'ABCDEF', 'abcdef/../x']) throws(() => tokenIdOf(text), /neither a token/)
})

const servers: [text: string, server: string | undefined][] = [
  ['https://192.0.2.1:6443', 'https://192.0.2.1:6443'],
  ['https://[2001:db8::1]:6443/', 'https://[2001:db8::1]:6443'],
  ['https://Cluster.example', 'https://cluster.example'],
  ['http://192.0.2.1:6443', undefined],
  ['192.0.2.1:6443', undefined],
  ['https://user@192.0.2.1', undefined],
  ['https://192.0.2.1/path', undefined],
  ['https://a$(reboot)', undefined],
  ["https://a';reboot'", undefined],
]
test('servers are addresses and names only, so that the command is one for any shell', () => {
  for (const [text, server] of servers)
    if (server === undefined) throws(() => joinServer(text), /--server .* is not an address such as https:/)
    else equal(joinServer(text), server)
  equal(
    joinCommand('https://192.0.2.1:6443', pinned),
    `coxswain agent --server https://192.0.2.1:6443 --token ${pinned}`,
  )
})

const serverKey = '0123456789abcdef'.repeat(4)

test('a token for servers ends with a key, and is a token for nodes too', () => {
  const text = pinnedToken(`${credential}.${serverKey}`, ours, nodeCrypto)
  const token = parseJoinToken(text, [])
  deepEqual([token.credential, token.serverKey], [credential, serverKey])
  equal(parseJoinToken(pinnedToken(credential, ours, nodeCrypto), []).serverKey, undefined)
  equal(tokenIdOf(text), 'abcdef')
  throws(() => parseJoinToken(text.slice(0, -1), []), /--token has none of the forms/)
  equal(
    serverJoinCommand('https://192.0.2.1:6443', text),
    `coxswain server --join https://192.0.2.1:6443 --token ${text} --data-dir /var/lib/coxswain`,
  )
  throws(() => joinServer('https://192.0.2.1:6443/$(x)', '--join'), /--join .* is not an address/)
})
