// Certificates and requests of any bytes are read, or refused with an Error that says what is wrong.
import { ok } from 'node:assert/strict'
import { fuzz, mutatedBytes } from '../base/fuzz.harness.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { requestPem } from './certificate-request.ts'
import { pem, pemContent } from './pem.ts'
import { elements, readCertificate } from './read-certificate.ts'
import { isSignedByItsKey, readRequest, readRequestSubject } from './read-request.ts'

const key = nodeCrypto.generateKey()
const subject = { commonName: 'jane', organizations: ['dev'] }
const request = pemContent(
  requestPem({ subject, dnsNames: ['a.example'], addresses: ['10.0.0.1'], emails: [], uris: ['spiffe://a'] }, key),
)

/** Errors that a programmer's mistake causes are no answer to a client. */
const isPlain = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)

fuzz('certificate requests', {
  runs: 3_000,
  make: (random) => mutatedBytes(request, random),
  check(bytes) {
    const text = pem('CERTIFICATE REQUEST', bytes)
    for (const read of [readRequest, readRequestSubject, readCertificate])
      try {
        read(text)
      } catch (error) {
        ok(isPlain(error), error as Error)
      }
    try {
      ok(!isSignedByItsKey(text, nodeCrypto) || request.toHex() !== '')
    } catch (error) {
      ok(isPlain(error), error as Error)
    }
  },
})

fuzz('elements of DER', {
  runs: 3_000,
  make: (random) => mutatedBytes(random.bytes(random.below(30)), random),
  check(bytes) {
    try {
      const whole = elements(bytes).reduce((sum, element) => sum + element.whole.length, 0)
      ok(whole === bytes.length)
    } catch (error) {
      ok(isPlain(error), error as Error)
    }
  },
})
