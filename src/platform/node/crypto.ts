import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { AesMode, CryptoProvider, KeyPair, PublicKey, SignatureAlgorithm } from '../crypto/crypto.ts'

export const nodeCrypto: CryptoProvider = {
  sha1: (data) => hash('sha1', data, 'buffer'),
  sha256: (data) => hash('sha256', data, 'buffer'),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  timingSafeEqual: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  seal,
  open,
  generateKey: () => pairOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  loadKey: (privateKey) => pairOf(createPrivateKey(privateKey)),
  loadPublicKey,
}

const tagBytes = 16

const bitsOf = (key: Uint8Array): '128' | '192' | '256' => {
  if (key.length === 16) return '128'
  return key.length === 24 ? '192' : '256'
}

function seal(
  mode: AesMode,
  key: Uint8Array,
  nonce: Uint8Array,
  data: Uint8Array,
  additionalData: Uint8Array,
): Uint8Array {
  if (mode === 'aescbc') {
    const cipher = createCipheriv(`aes-${bitsOf(key)}-cbc`, key, nonce)
    return Buffer.concat([cipher.update(data), cipher.final()])
  }
  const cipher = createCipheriv(`aes-${bitsOf(key)}-gcm`, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(additionalData)
  return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

function open(
  mode: AesMode,
  key: Uint8Array,
  nonce: Uint8Array,
  data: Uint8Array,
  additionalData: Uint8Array,
): Uint8Array {
  if (mode === 'aescbc') {
    const decipher = createDecipheriv(`aes-${bitsOf(key)}-cbc`, key, nonce)
    return Buffer.concat([decipher.update(data), decipher.final()])
  }
  if (data.length < tagBytes) throw new Error('the data is too short to have been sealed')
  const decipher = createDecipheriv(`aes-${bitsOf(key)}-gcm`, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(additionalData)
  decipher.setAuthTag(data.subarray(-tagBytes))
  return Buffer.concat([decipher.update(data.subarray(0, -tagBytes)), decipher.final()])
}

const pairOf = (key: KeyObject): KeyPair => ({
  kind: key.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC',
  privateKey: key.export({ type: 'pkcs8', format: 'pem' }),
  publicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }),
  sign: (data) => sign('sha256', data, key),
  signJws: (data) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
})

const publicKeyOf = (key: KeyObject): PublicKey => ({
  publicKey: key.export({ type: 'spki', format: 'der' }),
  jwk: key.export({ format: 'jwk' }),
  verify(algorithm, data, signature) {
    const digest = `sha${algorithm.slice(2)}`
    const isCurve = algorithm.startsWith('ES')
    if (key.asymmetricKeyType !== (isCurve ? 'ec' : 'rsa')) return false
    if (isCurve && key.asymmetricKeyDetails?.namedCurve !== curves[algorithm]) return false
    const padding = algorithm.startsWith('PS')
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}
    return verify(digest, data, { key, dsaEncoding: 'ieee-p1363', ...padding }, signature)
  },
  verifyX509(digest, data, signature) {
    const isPlain = key.asymmetricKeyType === 'ed25519'
    return isPlain === (digest === undefined) && verify(digest ?? null, data, key, signature)
  },
})

const curves: Readonly<Partial<Record<SignatureAlgorithm, string>>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
}

function loadPublicKey(key: Uint8Array | string | JsonWebKey): PublicKey {
  if (key instanceof Uint8Array)
    return publicKeyOf(createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' }))
  return publicKeyOf(typeof key === 'string' ? createPublicKey(key) : createPublicKey({ key, format: 'jwk' }))
}
