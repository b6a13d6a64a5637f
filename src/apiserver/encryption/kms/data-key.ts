// DataKey: a key that encrypts values of the store. The KMS plugin encrypts the key itself, not the values.
import type { CryptoProvider } from '../../../platform/crypto/crypto.ts'
import type { CipherDeps } from '../ciphers/value-cipher.ts'
import { dekSourceTypes } from './kms-messages.ts'

export const seedBytes = 32
const infoBytes = 32
const nonceBytes = 12
const tagBytes = 16
const aesKeyBytes: readonly number[] = [16, 24, 32]

/** The error in the length of a key that the plugin decrypted; undefined where it is valid. */
export function dataKeyProblem(type: number, source: Uint8Array): string | undefined {
  const isUsable = type === dekSourceTypes.aesGcmKey ? aesKeyBytes.includes(source.length) : source.length >= seedBytes
  return isUsable ? undefined : `the decrypted DEK source has ${source.length} bytes`
}

/** HKDF-Expand (RFC 5869) for one block of output: the seed is random, so the extract step is not needed. */
function derivedKey(crypto: CryptoProvider, seed: Uint8Array, info: Uint8Array): Uint8Array {
  const input = new Uint8Array(info.length + 1)
  input.set(info)
  input[info.length] = 1
  return crypto.hmacSha256(seed, input)
}

/** Each value gets its own key, so the seed never has to be replaced because of too many random nonces. */
export function sealWithSeed({ crypto, random }: CipherDeps, seed: Uint8Array, value: Uint8Array, bound: Uint8Array) {
  const info = random.bytes(infoBytes)
  const nonce = random.bytes(nonceBytes)
  const sealed = crypto.seal('aesgcm', derivedKey(crypto, seed, info), nonce, value, bound)
  const whole = new Uint8Array(infoBytes + nonceBytes + sealed.length)
  whole.set(info)
  whole.set(nonce, infoBytes)
  whole.set(sealed, infoBytes + nonceBytes)
  return whole
}

/** Throws where the data was modified, belongs to another store key or was encrypted with another key. */
export function openWithDataKey(
  crypto: CryptoProvider,
  type: number,
  source: Uint8Array,
  data: Uint8Array,
  bound: Uint8Array,
): Uint8Array {
  const start = type === dekSourceTypes.aesGcmKey ? 0 : infoBytes
  if (data.length < start + nonceBytes + tagBytes) throw new Error('the encrypted data is too short')
  const key = start === 0 ? source : derivedKey(crypto, source, data.subarray(0, start))
  const nonce = data.subarray(start, start + nonceBytes)
  return crypto.open('aesgcm', key, nonce, data.subarray(start + nonceBytes), bound)
}
