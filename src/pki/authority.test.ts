import { deepEqual, equal, match, notEqual, ok, throws } from 'node:assert/strict'
import { X509Certificate, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect, createServer } from 'node:tls'
import { seededRandom, systemRandom } from '../base/random/random.ts'
import { realClock } from '../base/time/clock.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { Authority } from './authority.ts'
import { encodeAddress, encodeName, signCertificate } from './certificate.ts'
import * as der from './der.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { parseCertificate } from './parse-certificate.ts'
import { base64Text, encodePem } from './pem.ts'

const deps = { clock: new VirtualClock(Date.UTC(2030, 0, 1)), random: systemRandom, crypto: nodeCrypto }
/** For TLS, which compares with the time of the machine. */
const realDeps = { ...deps, clock: realClock }
const authority = Authority.create('test-ca', deps)
const noAltNames = { dnsNames: [], addresses: [], emails: [], uris: [] }

test('the authority signs itself and may sign others', () => {
  const certificate = new X509Certificate(authority.certificate)
  equal(certificate.ca, true)
  equal(certificate.subject, 'CN=test-ca')
  ok(certificate.verify(certificate.publicKey))
})

test('an issued certificate carries subject, names and uses, and its key fits', () => {
  const { certificate: text, key } = authority.issue({
    subject: { commonName: 'system:node:a', organizations: ['system:nodes', 'extra'] },
    uses: ['server', 'client'],
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    addresses: ['127.0.0.1', '::1', 'fd00::10:1'],
  })
  const certificate = new X509Certificate(text)
  equal(certificate.subject, 'O=system:nodes\nO=extra\nCN=system:node:a')
  equal(
    certificate.subjectAltName,
    'DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:10:1',
  )
  deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  equal(certificate.ca, false)
  ok(certificate.checkIssued(new X509Certificate(authority.certificate)))
  ok(certificate.verify(new X509Certificate(authority.certificate).publicKey))
  ok(certificate.checkPrivateKey(createPrivateKey(key)))
  equal(certificate.validFromDate.toISOString(), '2029-12-31T23:55:00.000Z')
})

test('a stored authority signs as before', () => {
  const again = Authority.load(authority.identity, deps)
  const { certificate } = again.issue({ subject: { commonName: 'x', organizations: [] }, uses: ['client'] })
  ok(new X509Certificate(certificate).verify(new X509Certificate(authority.certificate).publicKey))
})

test('an authority finds its own certificate among others, and keeps those that sign it apart', () => {
  const [old, next] = ['old-ca', 'next-ca'].map((name) => Authority.create(name, deps)) as [Authority, Authority]
  const cross = old.crossSign(next)
  const { key } = next.identity
  for (const order of [
    [next.certificate, cross, old.certificate],
    [old.certificate, next.certificate, cross],
  ]) {
    const loaded = Authority.load({ certificate: order.join(''), key }, deps)
    equal(loaded.certificate, next.certificate)
    equal(loaded.trusted, `${next.certificate}${old.certificate}`)
    equal(loaded.chain, cross)
  }
  const before = Authority.load({ certificate: `${old.certificate}${next.certificate}`, key: old.identity.key }, deps)
  equal(before.chain, '')
  equal(before.trusted, `${old.certificate}${next.certificate}`)
  const commented = `the CA of a user\n${old.certificate}`
  equal(Authority.load({ certificate: commented, key: old.identity.key }, deps).trusted, commented)
  throws(() => Authority.load({ certificate: old.certificate, key }, deps), /not the key of its certificate/)

  const issued = next.issue({ subject: { commonName: 'x', organizations: [] }, uses: ['client'] }).certificate
  deepEqual([next.hasSigned(issued), old.hasSigned(issued)], [true, false])
})

test('a client that trusts only the earlier authority accepts what the next one signs, with its chain', async () => {
  const [old, next] = ['old-ca', 'next-ca'].map((name) => Authority.create(name, realDeps)) as [Authority, Authority]
  const subject = { commonName: 'server', organizations: [] }
  const { certificate, key } = next.issue({ subject, uses: ['server'], dnsNames: ['localhost'] })
  const errorOf = async (shown: string, trusted: string) => {
    const server = createServer({ cert: shown, key }, (socket) => socket.end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port, ca: trusted, servername: 'localhost', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const error = socket.authorizationError as unknown
    socket.destroy()
    await once(server.close(), 'close')
    return error instanceof Error ? error.message : error
  }
  const withChain = `${certificate}${old.crossSign(next)}`
  equal(await errorOf(withChain, old.certificate), null)
  equal(await errorOf(withChain, next.certificate), null)
  equal(await errorOf(withChain, `${next.certificate}${old.certificate}`), null)
  notEqual(await errorOf(certificate, old.certificate), null)
})

test('an authority of others, with an RSA key and names of its own, signs too', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = nodeCrypto.loadKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const subject = { commonName: 'their-ca', organizations: ['Elsewhere'] }
  const issuer = { name: encodeName(subject), keyId: Uint8Array.of(1, 2, 3), key }
  const life = { notBeforeMs: Date.UTC(2029, 0, 1), notAfterMs: Date.UTC(2039, 0, 1) }
  const request = {
    name: issuer.name,
    isAuthority: true,
    usages: ['cert sign'],
    altNames: noAltNames,
    publicKey: key.publicKey,
    ...life,
  }
  const certificate = signCertificate(request, issuer, systemRandom, nodeCrypto)
  equal(parseCertificate(certificate).notAfterMs, life.notAfterMs)
  const theirs = Authority.load({ certificate, key: key.privateKey }, deps)
  const issued = new X509Certificate(
    theirs.issue({ subject: { commonName: 'x', organizations: [] }, uses: ['client'] }).certificate,
  )
  equal(issued.issuer, 'O=Elsewhere\nCN=their-ca')
  ok(issued.verify(new X509Certificate(certificate).publicKey))
  ok(issued.checkIssued(new X509Certificate(certificate)))
  throws(() => Authority.load({ certificate, key: authority.identity.key }, deps), /not the key of its certificate/)
})

test('years from 2050 on and serial numbers with a high bit are written as X.509 asks', () => {
  const key = nodeCrypto.generateKey()
  const subject = { commonName: 'late', organizations: [] }
  const issuer = { name: encodeName(subject), keyId: key.publicKey.subarray(0, 20), key }
  const request = { name: issuer.name, isAuthority: false, usages: [], altNames: noAltNames, publicKey: key.publicKey }
  for (let seed = 0; seed < 20; seed++) {
    const random = seededRandom(seed)
    const years = { notBeforeMs: Date.UTC(2049, 11, 31), notAfterMs: Date.UTC(2050, 0, 1) }
    const text = signCertificate({ ...request, ...years }, issuer, random, nodeCrypto)
    equal(new X509Certificate(text).validToDate.toISOString(), '2050-01-01T00:00:00.000Z')
  }
})

test('DER primitives', () => {
  const hex = (bytes: Uint8Array) => bytes.toHex()
  equal(hex(der.integer(Uint8Array.of(0, 0, 0x80))), '02020080')
  equal(hex(der.objectIdentifier('1.2.840.113549')), '06062a864886f70d')
  equal(hex(der.octetString(new Uint8Array(200))).slice(0, 6), '0481c8')
  equal(hex(encodeAddress('::1')), '00000000000000000000000000000001')
  equal(hex(encodeAddress('::ffff:10.0.0.1')), '0a000001')
  throws(() => encodeAddress('10.0.0'), /"10.0.0" is not an IP address/)
  equal(encodePem('X', Uint8Array.of(1)), '-----BEGIN X-----\nAQ==\n-----END X-----\n')
  equal(base64Text('é'), 'w6k=')
})

test('a kubeconfig names server, authority and identity', () => {
  const identity = authority.issue({ subject: { commonName: 'admin', organizations: [] }, uses: ['client'] })
  const text = kubeconfigText({ server: 'https://127.0.0.1:6443', authority: authority.certificate, identity })
  match(text, /server: https:\/\/127\.0\.0\.1:6443\n/)
  match(text, /client-key-data: [A-Za-z0-9+/=]+\n$/)
})
