// ValueCipher: one way to encrypt values of the store, with one key. Encrypted values begin with the prefix of their
// cipher.
import type { Random } from '../../../base/random/random.ts'
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { CryptoProvider } from '../../../platform/crypto/crypto.ts'
import { openSecretbox, sealSecretbox, secretboxNonceBytes } from '../../../platform/crypto/secretbox.ts'

export interface ValueCipher {
  /** `k8s:enc:aesgcm:v1:key1:`; empty for values that are not encrypted. */
  readonly prefix: string
  /** Identifies the current key of seal(). */
  readonly keyVersion: string
  /** Identifies the key that a value was sealed with. */
  keyVersionOf(sealed: Uint8Array): string
  seal(value: Uint8Array, key: string): Uint8Array
  /** A promise only where the key has to be fetched first. */
  open(sealed: Uint8Array, key: string): MaybePromise<Uint8Array>
}

export interface CipherDeps {
  readonly crypto: CryptoProvider
  readonly random: Random
}

export const cipherKinds = ['aescbc', 'aesgcm', 'secretbox'] as const
export type CipherKind = (typeof cipherKinds)[number]

const encryptedMark = new TextEncoder().encode('k8s:enc:')

export const isEncrypted = (value: Uint8Array): boolean => startsWith(value, encryptedMark)

export const startsWith = (value: Uint8Array, prefix: Uint8Array): boolean =>
  value.length >= prefix.length && prefix.every((byte, index) => value[index] === byte)

export const identity: ValueCipher = {
  prefix: '',
  keyVersion: '',
  keyVersionOf: () => '',
  seal: (value) => value,
  open: (value) => value,
}

const nonceBytes = { aescbc: 16, aesgcm: 12, secretbox: secretboxNonceBytes } as const

/** The store key is authenticated with the value where the cipher supports it, so that values cannot be swapped. */
export function valueCipher(
  kind: CipherKind,
  keyName: string,
  secret: Uint8Array,
  { crypto, random }: CipherDeps,
): ValueCipher {
  const prefix = `k8s:enc:${kind}:v1:${keyName}:`
  const start = new TextEncoder().encode(prefix)
  const size = nonceBytes[kind]
  const bound = (key: string) => (kind === 'aesgcm' ? new TextEncoder().encode(key) : new Uint8Array())
  return {
    prefix,
    keyVersion: prefix,
    keyVersionOf: () => prefix,
    seal(value, key) {
      const nonce = random.bytes(size)
      const sealed =
        kind === 'secretbox' ? sealSecretbox(secret, nonce, value) : crypto.seal(kind, secret, nonce, value, bound(key))
      const whole = new Uint8Array(start.length + size + sealed.length)
      whole.set(start)
      whole.set(nonce, start.length)
      whole.set(sealed, start.length + size)
      return whole
    },
    open(value, key) {
      const nonce = value.subarray(start.length, start.length + size)
      const sealed = value.subarray(start.length + size)
      return kind === 'secretbox'
        ? openSecretbox(secret, nonce, sealed)
        : crypto.open(kind, secret, nonce, sealed, bound(key))
    },
  }
}
