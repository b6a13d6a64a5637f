// Differential fuzzing of the DER parsers against OpenSSL: whatever we accept, OpenSSL accepts too, with the same fields.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { X509Certificate, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { fuzz, mutatedBytes, pick } from '../base/random/fuzz.harness.ts'
import { systemRandom, type Random } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { Authority } from './authority.ts'
import { certificateRequestPem } from './certificate-request.ts'
import { encodeName, signCertificate, type AltNames } from './certificate.ts'
import * as der from './der.ts'
import { DerReader } from './der-reader.ts'
import { hasOpenssl, mutatedDer, opensslAccepts, opensslRequest, opensslSubjectKeyId } from './openssl.harness.ts'
import { parseCertificate } from './parse-certificate.ts'
import { parseCertificateRequest, verifyRequestSignature } from './parse-certificate-request.ts'
import { decodePem, encodePem } from './pem.ts'

const deps = { clock: new VirtualClock(Date.UTC(2030, 0, 1)), random: systemRandom, crypto: nodeCrypto }
const authority = Authority.create('test-ca', deps)
const key = nodeCrypto.generateKey()
const rsaKey = nodeCrypto.loadKey(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
)
const jane = { commonName: 'jane', organizations: ['dev', 'ops'] }
const noAltNames: AltNames = { dnsNames: [], addresses: [], emails: [], uris: [] }
const rsaIssuer = {
  name: encodeName({ commonName: 'rsa', organizations: [] }),
  keyId: Uint8Array.of(1, 2),
  key: rsaKey,
}

const certificates = [
  authority.certificate,
  authority.issue({ subject: jane, uses: ['server'], dnsNames: ['a.example'], addresses: ['10.0.0.1', '::1'] })
    .certificate,
  signCertificate(
    {
      name: encodeName(jane),
      isAuthority: true,
      usages: ['cert sign'],
      altNames: noAltNames,
      publicKey: rsaKey.publicKey,
      notBeforeMs: Date.UTC(1999, 0, 1),
      notAfterMs: Date.UTC(2070, 1, 28),
    },
    rsaIssuer,
    systemRandom,
    nodeCrypto,
  ),
].map(decodePem)

// Inputs are texts: a failure prints them whole, because the keys are others in each run.

/** The value that `call` returns, or undefined where it throws an Error that is meant for the sender. */
function accepted<Value>(call: () => Value): Value | undefined {
  try {
    return call()
  } catch (error) {
    ok(error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError), error as Error)
    return undefined
  }
}

const mutated = (random: Random, inputs: readonly Uint8Array[]): Uint8Array => {
  const bytes = pick(random, inputs)
  return random.below(4) === 0 ? mutatedBytes(bytes, random) : mutatedDer(bytes, random)
}

/** A getter of OpenSSL's that fails where it cannot decode the key. */
const publicKeyOf = (certificate: X509Certificate): Uint8Array | undefined => {
  try {
    return certificate.publicKey.export({ type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}

const counts = { certificates: 0, requests: 0, verified: 0 }

fuzz('certificates as we and OpenSSL read them', {
  runs: 3_000,
  make: (random) => mutated(random, certificates).toHex(),
  check(hex, random) {
    const bytes = Buffer.from(hex, 'hex')
    const parsed = accepted(() => parseCertificate(encodePem('CERTIFICATE', bytes)))
    if (parsed === undefined) return
    counts.certificates++
    const theirs = new X509Certificate(bytes)
    equal(theirs.raw.toHex(), bytes.toHex(), 'nothing follows the certificate')
    equal(new Date(parsed.notBeforeMs).toISOString(), theirs.validFromDate.toISOString())
    equal(new Date(parsed.notAfterMs).toISOString(), theirs.validToDate.toISOString())
    const publicKey = publicKeyOf(theirs)
    if (publicKey !== undefined) equal(parsed.publicKey.toHex(), publicKey.toHex())
    if (hasOpenssl && random.below(50) === 0) equal(parsed.subjectKeyId?.toHex(), opensslSubjectKeyId(bytes))
  },
})

const requests = [
  certificateRequestPem({ subject: jane }, key),
  certificateRequestPem(
    { subject: jane, dnsNames: ['a.example'], addresses: ['10.0.0.1'], emails: ['a@b.example'], uris: ['spiffe://a'] },
    key,
  ),
].map(decodePem)
const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))

/** A request whose content is mutated before it is signed, so that only the content can be a reason to reject it. */
function signedMutation(random: Random): Uint8Array {
  const info = new DerReader(new DerReader(pick(random, requests)).any().content).any().encoded
  const body = mutatedDer(info, random)
  return der.sequence(body, ecdsaWithSha256, der.bitString(key.sign(body)))
}

const commonNameId = '2.5.4.3'
const organizationId = '2.5.4.10'
const plain = /^[\w.:/@-]+$/

fuzz('certificate requests as we and OpenSSL read them', {
  runs: 600,
  make: (random) => (random.below(2) === 0 ? signedMutation(random) : mutated(random, requests)).toHex(),
  check(hex) {
    const bytes = Buffer.from(hex, 'hex')
    const pem = encodePem('CERTIFICATE REQUEST', bytes)
    const parsed = accepted(() => parseCertificateRequest(pem))
    if (parsed === undefined || !hasOpenssl) return
    counts.requests++
    const theirs = opensslRequest(bytes)
    ok(theirs !== undefined, 'OpenSSL rejects the request')
    const valuesOf = (wanted: string) => theirs.names.filter(({ id }) => id === wanted).map(({ text }) => text)
    equal(parsed.subject.commonName, valuesOf(commonNameId).at(-1) ?? '')
    deepEqual(parsed.subject.organizations, valuesOf(organizationId))
    compareAltNames(parsed.altNames, theirs.altNames)
    if (!verifyRequestSignature(pem, nodeCrypto)) return
    counts.verified++
    ok(opensslAccepts(bytes), 'OpenSSL rejects the signature')
  },
})

/** OpenSSL prints names without quotes, so that only plain ones can be compared. */
function compareAltNames({ dnsNames, emails, uris, addresses }: AltNames, theirs: readonly string[]): void {
  const ours = [
    ...dnsNames.map((name) => `DNS:${name}`),
    ...emails.map((name) => `email:${name}`),
    ...uris.map((name) => `URI:${name}`),
    ...addresses.filter(({ length }) => length === 4).map((address) => `IP Address:${address.join('.')}`),
  ]
  if ([...dnsNames, ...emails, ...uris].some((name) => !plain.test(name))) return
  const comparable = (name: string) => /^(DNS|email|URI):|^IP Address:[\d.]+$/.test(name)
  deepEqual(ours.toSorted(), theirs.filter(comparable))
}

const hasSeed = process.env['COXSWAIN_SEED'] !== undefined

test('enough of the mutated certificates and requests are accepted', () => {
  ok(hasSeed || counts.certificates > 100, `${counts.certificates} mutated certificates were accepted`)
  ok(hasSeed || !hasOpenssl || (counts.requests > 20 && counts.verified > 10), JSON.stringify(counts))
})
