// secretbox: XSalsa20 and Poly1305 as NaCl combines them, for values that upstream's `secretbox` provider has encrypted.
// Node.js has no XSalsa20. @noble/ciphers computes with 32-bit integers and does not branch on secret data.
import { secretbox } from '@noble/ciphers/salsa.js'

export const secretboxKeyBytes = 32
export const secretboxNonceBytes = 24
const tagBytes = 16

export const sealSecretbox = (key: Uint8Array, nonce: Uint8Array, data: Uint8Array): Uint8Array =>
  secretbox(key, nonce).seal(data)

export function openSecretbox(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array {
  if (sealed.length < tagBytes) throw new Error('the data is too short to have been sealed')
  try {
    return secretbox(key, nonce).open(sealed)
  } catch (error) {
    throw new Error('the data was not sealed under this key', { cause: error })
  }
}
