import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  sign,
  timingSafeEqual,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { CryptoProvider, KeyPair } from '../crypto.ts'

export const nodeCrypto: CryptoProvider = {
  sha256: (data) => hash('sha256', data, 'buffer'),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  equalInConstantTime: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  generateKey: () => pairOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  loadKey: (privateKey) => pairOf(createPrivateKey(privateKey)),
}

const pairOf = (key: KeyObject): KeyPair => ({
  privateKey: key.export({ type: 'pkcs8', format: 'pem' }),
  publicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }),
  sign: (data) => sign('sha256', data, key),
})
