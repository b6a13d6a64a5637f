// Crypto: digests and keys as the platform offers them. All of it is synchronous: virtual time stays repeatable,
// and one P-256 operation costs a tenth of a millisecond.

export interface CryptoProvider {
  sha256(data: Uint8Array | string): Uint8Array
  hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array
  /** Takes the same time whether the difference is at the first byte or at the last. */
  equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean
  /** A new P-256 key. */
  generateKey(): KeyPair
  /** The pair of a private key that was stored as PEM (PKCS 8). */
  loadKey(privateKey: string): KeyPair
}

export interface KeyPair {
  /** PEM, PKCS 8. */
  readonly privateKey: string
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  /** ECDSA with SHA-256, DER. */
  sign(data: Uint8Array): Uint8Array
}
