import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { encodeAddress, encodeName, encodeNameAttributes, extension } from './certificate.ts'
import { DerReader } from './der-reader.ts'
import * as der from './der.ts'
import { encodePem } from './pem.ts'
import { parseCertificateRequest, parseRequestSubject, verifyRequestSignature } from './parse-certificate-request.ts'
import { certificateRequestPem } from './certificate-request.ts'

const version = der.integer(Uint8Array.of(0))
const key = nodeCrypto.generateKey()
const jane = { commonName: 'jane', organizations: ['dev', 'ops'] }
const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))
const noAttributes = der.explicit(0, new Uint8Array())

const requestDer = (...info: Uint8Array[]): Uint8Array => {
  const body = der.sequence(...info)
  return der.sequence(body, ecdsaWithSha256, der.bitString(key.sign(body)))
}
const pemOf = (bytes: Uint8Array): string => encodePem('CERTIFICATE REQUEST', bytes)
const requestOf = (...info: Uint8Array[]): string => pemOf(requestDer(...info))

test('the subject of a request', () => {
  for (const subject of [jane, { commonName: 'system:node:a', organizations: [] }])
    deepEqual(parseRequestSubject(requestOf(version, encodeName(subject), key.publicKey, noAttributes)), subject)
})

test('all fields of a request', () => {
  const names = { dnsNames: ['a.example', 'b'], emails: ['a@b'], uris: ['spiffe://a'] }
  const requested = parseCertificateRequest(
    certificateRequestPem({ subject: jane, ...names, addresses: ['10.0.0.1', 'fd00::1'] }, key),
  )
  deepEqual(requested.subject, jane)
  deepEqual(requested.name.toHex(), encodeName(jane).toHex())
  deepEqual(requested.publicKey.toHex(), key.publicKey.toHex())
  const { addresses, ...others } = requested.altNames
  deepEqual(others, names)
  deepEqual(
    addresses.map((each) => each.toHex()),
    ['10.0.0.1', 'fd00::1'].map((each) => encodeAddress(each).toHex()),
  )
})

test('of several common names the last one is used, in the subject and in the name for the certificate', () => {
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

test('a signature is valid if it was made with the key of the request', () => {
  const other = nodeCrypto.generateKey()
  equal(verifyRequestSignature(certificateRequestPem({ subject: jane }, key), nodeCrypto), true)
  equal(verifyRequestSignature(certificateRequestPem({ subject: jane }, key, other), nodeCrypto), false)
  equal(verifyRequestSignature('no pem', nodeCrypto), false)
})

const good = requestDer(version, encodeName(jane), key.publicKey, noAttributes)
const contentOf = (element: Uint8Array): Uint8Array => new DerReader(element).any().content
const nameOf = (value: Uint8Array): Uint8Array =>
  der.sequence(der.set(der.sequence(der.objectIdentifier('2.5.4.3'), value)))
const named = (value: Uint8Array): string => requestOf(version, nameOf(value), key.publicKey)
const text = (content: string): Uint8Array => Buffer.from(content, 'latin1')
const extensionRequest = (...extensions: Uint8Array[]): Uint8Array =>
  der.sequence(der.objectIdentifier('1.2.840.113549.1.9.14'), der.set(der.sequence(...extensions)))
const altName = (...names: Uint8Array[]): Uint8Array => extension('2.5.29.17', false, der.sequence(...names))
const withAttributes = (...attributes: Uint8Array[]): string =>
  requestOf(version, encodeName(jane), key.publicKey, der.explicit(0, der.joined(attributes)))

test('alternative names of other kinds are ignored', () => {
  const names = [
    der.explicit(0, der.joined([der.objectIdentifier('1.2.3'), der.explicit(0, der.utf8String('x'))])),
    der.explicit(4, encodeName(jane)),
    der.implicit(8, Uint8Array.of(0x55)),
    der.implicit(2, text('a.example')),
  ]
  const { altNames } = parseCertificateRequest(withAttributes(extensionRequest(altName(...names))))
  deepEqual(altNames, { dnsNames: ['a.example'], emails: [], uris: [], addresses: [] })
})

const broken: [why: string, request: string, error: RegExp][] = [
  ['no PEM', 'no pem', /there is no PEM/],
  ['PEM whose labels differ', pemOf(good).replace('END CERTIFICATE REQUEST', 'END CERTIFICATE'), /there is no PEM/],
  ['no version', requestOf(encodeName(jane), key.publicKey), /the version has the tag 0x30/],
  ['no subject', requestOf(version), /the subject is missing/],
  ['no key', requestOf(version, encodeName(jane)), /the public key is missing/],
  ['no signature', pemOf(der.sequence(der.sequence(version))), /the algorithm is missing/],
  ['a truncated element', pemOf(Uint8Array.of(0x30, 0x05, 0x01)), /cut off/],
  ['bytes after the request', pemOf(der.joined([good, Uint8Array.of(5, 0)])), /more elements/],
  ['an element after the signature', pemOf(der.sequence(contentOf(good), version)), /more elements/],
  ['an indefinite length', pemOf(Uint8Array.of(0x30, 0x80, 0, 0)), /indefinite/],
  ['a value of a name that is a number', named(version), /a value of the type 0x2/],
  ['a name that is not UTF-8', named(der.tagged(0x0c, text('\xff'))), /not text/],
  ['a PrintableString with an @', named(der.tagged(0x13, text('a@b'))), /characters/],
  ['an IA5String beyond ASCII', named(der.tagged(0x16, text('\xc3\xa9'))), /characters/],
  ['a T61String beyond ASCII', named(der.tagged(0x14, text('\xc3\xa9'))), /characters/],
  ['a BMPString with half a character', named(der.tagged(0x1e, text('\xd8\x00'))), /not text|characters/],
  ['an attribute with two values', named(der.joined([der.utf8String('a'), der.utf8String('b')])), /more elements/],
  ['an empty part of a name', requestOf(version, der.sequence(der.set()), key.publicKey), /is empty/],
  ['two requests for extensions', withAttributes(extensionRequest(), extensionRequest()), /twice/],
  ['an extension twice', withAttributes(extensionRequest(altName(), altName())), /twice/],
  [
    'an unknown kind of alternative name',
    withAttributes(extensionRequest(altName(der.implicit(0, text('a'))))),
    /0x80/,
  ],
  [
    'an address of three bytes',
    withAttributes(extensionRequest(altName(der.implicit(7, Uint8Array.of(10, 0, 1))))),
    /wrong length/,
  ],
  ['a name beyond ASCII', certificateRequestPem({ subject: jane, dnsNames: ['ä'] }, key), /not ASCII/],
]
for (const [why, request, error] of broken)
  test(`a malformed request is rejected: ${why}`, () => {
    throws(() => parseCertificateRequest(request), error)
  })
