// Creates certificate signing requests (PKCS 10), signed with the key that the certificate is for.
import type { KeyPair } from '../platform/crypto/crypto.ts'
import { encodeAddress, encodeAltNames, extension, encodeName, type Subject } from './certificate.ts'
import * as der from './der.ts'
import { encodePem } from './pem.ts'

export interface CertificateRequestOptions {
  readonly subject: Subject
  /** DER of the name; by default that of the subject. */
  readonly name?: Uint8Array
  readonly dnsNames?: readonly string[]
  readonly addresses?: readonly string[]
  readonly emails?: readonly string[]
  readonly uris?: readonly string[]
}

const extensionRequest = '1.2.840.113549.1.9.14'
const altNameId = '2.5.29.17'
const ecdsaWithSha256 = '1.2.840.10045.4.3.2'

/** `signedBy` is a different key only in tests of invalid requests. */
export function certificateRequestPem(
  {
    subject,
    name = encodeName(subject),
    dnsNames = [],
    addresses = [],
    emails = [],
    uris = [],
  }: CertificateRequestOptions,
  key: KeyPair,
  signedBy: KeyPair = key,
): string {
  const altNames = encodeAltNames({ dnsNames, addresses: addresses.map(encodeAddress), emails, uris })
  const attributes =
    altNames === undefined
      ? new Uint8Array()
      : der.sequence(
          der.objectIdentifier(extensionRequest),
          der.set(der.sequence(extension(altNameId, false, altNames))),
        )
  const info = der.sequence(der.integer(Uint8Array.of(0)), name, key.publicKey, der.explicit(0, attributes))
  const algorithm = der.sequence(der.objectIdentifier(ecdsaWithSha256))
  return encodePem('CERTIFICATE REQUEST', der.sequence(info, algorithm, der.bitString(signedBy.sign(info))))
}
