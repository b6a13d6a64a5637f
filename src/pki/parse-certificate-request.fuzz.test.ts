// Random bytes as certificates and requests are parsed, or rejected with an Error that says what is wrong.
import { ok } from 'node:assert/strict'
import { fuzz, mutatedBytes } from '../base/random/fuzz.harness.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { certificateRequestPem } from './certificate-request.ts'
import { decodePem, encodePem } from './pem.ts'
import { DerReader } from './der-reader.ts'
import { parseCertificate } from './parse-certificate.ts'
import { parseCertificateRequest, verifyRequestSignature } from './parse-certificate-request.ts'

const key = nodeCrypto.generateKey()
const subject = { commonName: 'jane', organizations: ['dev'] }
const request = decodePem(
  certificateRequestPem(
    { subject, dnsNames: ['a.example'], addresses: ['10.0.0.1'], emails: [], uris: ['spiffe://a'] },
    key,
  ),
)

/** A TypeError or RangeError would be a bug in the parser. */
const isPlain = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)

fuzz('certificate requests', {
  runs: 3_000,
  make: (random) => mutatedBytes(request, random),
  check(bytes) {
    const text = encodePem('CERTIFICATE REQUEST', bytes)
    for (const read of [parseCertificateRequest, parseCertificate])
      try {
        read(text)
      } catch (error) {
        ok(isPlain(error), error as Error)
      }
    verifyRequestSignature(text, nodeCrypto)
  },
})

fuzz('elements of DER', {
  runs: 3_000,
  make: (random) => mutatedBytes(random.bytes(random.below(30)), random),
  check(bytes) {
    try {
      const elements = new DerReader(bytes).rest((reader) => reader.any())
      const whole = elements.reduce((sum, { encoded }) => sum + encoded.length, 0)
      ok(whole === bytes.length)
    } catch (error) {
      ok(isPlain(error), error as Error)
    }
  },
})
