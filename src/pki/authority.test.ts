import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { seededRandom, systemRandom } from '../base/random.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { Authority } from './authority.ts'
import { addressBytes, signCertificate } from './certificate.ts'
import * as der from './der.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { base64Text, pem } from './pem.ts'

const parts = { clock: new VirtualClock(Date.UTC(2030, 0, 1)), random: systemRandom, crypto: nodeCrypto }
const authority = Authority.create('test-ca', parts)

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
  const again = Authority.load('test-ca', authority.identity, parts)
  const { certificate } = again.issue({ subject: { commonName: 'x', organizations: [] }, uses: ['client'] })
  ok(new X509Certificate(certificate).verify(new X509Certificate(authority.certificate).publicKey))
})

test('years from 2050 on and serial numbers with a high bit are written as X.509 asks', () => {
  const key = nodeCrypto.generateKey()
  const subject = { commonName: 'late', organizations: [] }
  const request = { subject, uses: [], dnsNames: [], addresses: [], publicKey: key.publicKey }
  for (let seed = 0; seed < 20; seed++) {
    const random = seededRandom(seed)
    const years = { notBeforeMs: Date.UTC(2049, 11, 31), notAfterMs: Date.UTC(2050, 0, 1) }
    const text = signCertificate({ ...request, ...years }, { subject, key }, random, nodeCrypto)
    equal(new X509Certificate(text).validToDate.toISOString(), '2050-01-01T00:00:00.000Z')
  }
})

test('DER primitives', () => {
  const hex = (bytes: Uint8Array) => bytes.toHex()
  equal(hex(der.integer(Uint8Array.of(0, 0, 0x80))), '02020080')
  equal(hex(der.objectIdentifier('1.2.840.113549')), '06062a864886f70d')
  equal(hex(der.octetString(new Uint8Array(200))).slice(0, 6), '0481c8')
  equal(hex(addressBytes('::1')), '00000000000000000000000000000001')
  equal(pem('X', Uint8Array.of(1)), '-----BEGIN X-----\nAQ==\n-----END X-----\n')
  equal(base64Text('é'), 'w6k=')
})

test('a kubeconfig names server, authority and identity', () => {
  const identity = authority.issue({ subject: { commonName: 'admin', organizations: [] }, uses: ['client'] })
  const text = kubeconfigText({ server: 'https://127.0.0.1:6443', authority: authority.certificate, identity })
  match(text, /server: https:\/\/127\.0\.0\.1:6443\n/)
  match(text, /client-key-data: [A-Za-z0-9+/=]+\n$/)
})
