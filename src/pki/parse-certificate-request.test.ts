import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { encodeAddress, encodeName, encodeNameAttributes } from './certificate.ts'
import * as der from './der.ts'
import { encodePem } from './pem.ts'
import { verifyRequestSignature, parseCertificateRequest, parseRequestSubject } from './parse-certificate-request.ts'
import { certificateRequestPem } from './certificate-request.ts'

const requestOf = (...info: Uint8Array[]): string =>
  encodePem('CERTIFICATE REQUEST', der.sequence(der.sequence(...info)))
const version = der.integer(Uint8Array.of(0))
const key = nodeCrypto.generateKey()
const jane = { commonName: 'jane', organizations: ['dev', 'ops'] }

test('a request says for whom it is', () => {
  for (const subject of [jane, { commonName: 'system:node:a', organizations: [] }])
    deepEqual(parseRequestSubject(requestOf(version, encodeName(subject))), subject)
})

test('a request says all that it asks for', () => {
  const names = { dnsNames: ['a.example', 'b'], emails: ['a@b'], uris: ['spiffe://a'] }
  const asked = parseCertificateRequest(
    certificateRequestPem({ subject: jane, ...names, addresses: ['10.0.0.1', 'fd00::1'] }, key),
  )
  deepEqual(asked.subject, jane)
  deepEqual(asked.name.toHex(), encodeName(jane).toHex())
  deepEqual(asked.publicKey.toHex(), key.publicKey.toHex())
  const { addresses, ...others } = asked.altNames
  deepEqual(others, names)
  deepEqual(
    addresses.map((each) => each.toHex()),
    ['10.0.0.1', 'fd00::1'].map((each) => encodeAddress(each).toHex()),
  )
})

test('of several common names the last one counts, for who looks and in what is signed', () => {
  const attributes = [
    ['2.5.4.3', 'system:admin'],
    ['2.5.4.10', 'dev'],
    ['2.5.4.11', 'unit'],
    ['1.2.3.4', 'unknown'],
    ['2.5.4.3', 'jane'],
  ] as const
  const { subject, name } = parseCertificateRequest(
    certificateRequestPem({ subject: jane, name: encodeNameAttributes(attributes) }, key),
  )
  deepEqual(subject, { commonName: 'jane', organizations: ['dev'] })
  deepEqual(name.toHex(), encodeNameAttributes([attributes[1], attributes[2], attributes[4]]).toHex())
})

test('whether who asks holds the key', () => {
  const other = nodeCrypto.generateKey()
  equal(verifyRequestSignature(certificateRequestPem({ subject: jane }, key), nodeCrypto), true)
  equal(verifyRequestSignature(certificateRequestPem({ subject: jane }, key, other), nodeCrypto), false)
  equal(verifyRequestSignature(requestOf(version, encodeName(jane), key.publicKey), nodeCrypto), false)
})

const broken: [why: string, request: string, error: RegExp][] = [
  ['no PEM', 'no pem', /there is no PEM/],
  ['no subject', requestOf(version), /names no subject/],
  ['no key', requestOf(version, encodeName(jane)), /has no key/],
  ['cut off', encodePem('CERTIFICATE REQUEST', Uint8Array.of(0x30, 0x05, 0x01)), /cut off/],
  [
    'a name in numbers',
    requestOf(version, der.sequence(der.set(der.sequence(der.objectIdentifier('2.5.4.3'), version))), key.publicKey),
    /unknown letters/,
  ],
  ['an address of three bytes', certificateRequestPem({ subject: jane, addresses: ['10.0.1'] }, key), /wrong length/],
  ['a name beyond ASCII', certificateRequestPem({ subject: jane, dnsNames: ['ä'] }, key), /not of ASCII/],
]
for (const [why, request, error] of broken)
  test(`a broken request is refused: ${why}`, () => {
    throws(() => parseCertificateRequest(request), error)
  })
