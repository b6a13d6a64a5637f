// CryptoProvider: digests, ciphers and keys. All of it is synchronous, so that virtual time stays reproducible. One
// P-256 operation takes a tenth of a millisecond.

export interface CryptoProvider {
  /** For protocols that require it, such as WebSocket. Not for security. */
  sha1(data: Uint8Array | string): Uint8Array
  sha256(data: Uint8Array | string): Uint8Array
  hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array
  /** Takes the same time wherever the first difference is. */
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
  /**
   * Encrypts with AES. The nonce has 12 bytes for GCM, 16 for CBC. GCM's tag follows the data and covers
   * `additionalData`.
   */
  seal(mode: AesMode, key: Uint8Array, nonce: Uint8Array, data: Uint8Array, additionalData: Uint8Array): Uint8Array
  /** Reverses `seal`; throws when the data was changed or sealed with another key. */
  open(mode: AesMode, key: Uint8Array, nonce: Uint8Array, data: Uint8Array, additionalData: Uint8Array): Uint8Array
  /** Generates a P-256 key. */
  generateKey(): KeyPair
  /** Loads a private key from PEM (PKCS 8). */
  loadKey(privateKey: string): KeyPair
  /** Loads a public key from SubjectPublicKeyInfo (DER), PEM of a key or certificate, or a JSON Web Key. */
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
/** By the names of JSON Web Algorithms (RFC 7518). */
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

export interface PublicKey {
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly jwk: JsonWebKey
  /** Verifies a signature in the format of JSON Web Signatures; false when the key does not fit the algorithm. */
  verify(algorithm: SignatureAlgorithm, data: Uint8Array, signature: Uint8Array): boolean
  /** Verifies a signature in the format of X.509: ECDSA in DER, RSA with PKCS 1, or Ed25519 without a digest. */
  verifyX509(digest: X509Digest | undefined, data: Uint8Array, signature: Uint8Array): boolean
}

export type X509Digest = 'sha256' | 'sha384' | 'sha512'

export interface KeyPair {
  /** Generated keys are EC; loaded ones may be RSA. */
  readonly kind: 'EC' | 'RSA'
  /** PEM, PKCS 8. */
  readonly privateKey: string
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  /** Signs with SHA-256 in the format of X.509: ECDSA in DER, or RSA with PKCS 1. */
  sign(data: Uint8Array): Uint8Array
  /** Signs with SHA-256 in the format of JSON Web Signatures: ES256 as two numbers of 32 bytes, or RS256. */
  signJws(data: Uint8Array): Uint8Array
}
