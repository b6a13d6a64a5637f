// The file of ServiceAccount keys, `sa.key`: the private key that signs tokens, followed by the public keys of others that are
// accepted. While a key is rotated these are the next one or the previous ones.
import type { AccountKeySet } from '../../apiserver/authentication/account-keys.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { encodePem, pemBlocks } from '../../pki/pem.ts'

const publicLabel = 'PUBLIC KEY'

/** Throws if there is no private key, or a block cannot be read. */
export const accountKeysIn = (content: string, crypto: CryptoProvider): AccountKeySet => ({
  signing: crypto.loadKey(content),
  accepted: pemBlocks(content, publicLabel).map((block) => crypto.loadPublicKey(block)),
})

export const accountKeyText = ({ signing, accepted }: AccountKeySet): string =>
  [signing.privateKey, ...accepted.map(({ publicKey }) => encodePem(publicLabel, publicKey))]
    .map((block) => `${block.trim()}\n`)
    .join('')
