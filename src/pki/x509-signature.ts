// Signatures of certificates and certificate requests.
import { lookup } from '../base/collections/lookup.ts'
import type { CryptoProvider, X509Digest } from '../platform/crypto/crypto.ts'
import type { SignedDer } from './x509-reader.ts'

/** The digest of each signature algorithm, by its encoded id. */
const digests: Readonly<Record<string, X509Digest | 'none'>> = {
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2b6570': 'none', // Ed25519
}

/** Whether it is signed with the key, which is given as SubjectPublicKeyInfo; false for unknown algorithms. */
export function isSignedWith(
  { body, algorithm, signature }: SignedDer,
  publicKey: Uint8Array,
  crypto: CryptoProvider,
): boolean {
  const digest = lookup(digests, algorithm.id)
  if (digest === undefined) return false
  return crypto.loadPublicKey(publicKey).verifyX509(digest === 'none' ? undefined : digest, body.encoded, signature)
}
