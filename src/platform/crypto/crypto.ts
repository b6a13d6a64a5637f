// Crypto: digests and keys as the platform offers them. All of it is synchronous: virtual time stays repeatable,
// and one P-256 operation costs a tenth of a millisecond.

export interface CryptoProvider {
  /** For protocols that ask for it by name; it protects nothing. */
  sha1(data: Uint8Array | string): Uint8Array
  sha256(data: Uint8Array | string): Uint8Array
  hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array
  /** Takes the same time whether the difference is at the first byte or at the last. */
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
  /** Encrypts with AES under a nonce of 12 (GCM) or 16 bytes (CBC); GCM's tag follows the data and covers `bound` too. */
  seal(mode: AesMode, key: Uint8Array, nonce: Uint8Array, data: Uint8Array, additionalData: Uint8Array): Uint8Array
  /** The reverse; throws when the data is not what was sealed. */
  open(mode: AesMode, key: Uint8Array, nonce: Uint8Array, data: Uint8Array, additionalData: Uint8Array): Uint8Array
  /** A new P-256 key. */
  generateKey(): KeyPair
  /** The pair of a private key that was stored as PEM (PKCS 8). */
  loadKey(privateKey: string): KeyPair
  /** A public key: SubjectPublicKeyInfo as DER, PEM of a key or a certificate, or a JSON Web Key; throws what it cannot read. */
  loadPublicKey(key: Uint8Array | string | JsonWebKey): PublicKey
}

export type AesMode = 'aescbc' | 'aesgcm'

export const signatureAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const
/** As JSON Web Algorithms names them. */
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

export interface PublicKey {
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly jwk: JsonWebKey
  /** Whether the signature, in the form of JSON Web Signatures, is the key's; false when the key is of another sort. */
  verify(algorithm: SignatureAlgorithm, data: Uint8Array, signature: Uint8Array): boolean
  /** The same for a signature as certificates carry it: ECDSA in DER, RSA with PKCS 1, or Ed25519 without a digest. */
  verifyX509(digest: X509Digest | undefined, data: Uint8Array, signature: Uint8Array): boolean
}

export type X509Digest = 'sha256' | 'sha384' | 'sha512'

export interface KeyPair {
  /** New keys are EC; one that was stored may be RSA. */
  readonly kind: 'EC' | 'RSA'
  /** PEM, PKCS 8. */
  readonly privateKey: string
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  /** With SHA-256, as certificates carry it: ECDSA in DER, or RSA with PKCS 1. */
  sign(data: Uint8Array): Uint8Array
  /** The same as JSON Web Signatures write it: ES256 as two numbers of 32 bytes, or RS256. */
  signJws(data: Uint8Array): Uint8Array
}
