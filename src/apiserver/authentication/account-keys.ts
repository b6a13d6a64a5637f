// AccountKeys: the key that signs ServiceAccount tokens, and all keys whose tokens are accepted. They are replaced while the
// server runs when the key is rotated.
import type { CryptoProvider, KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import { keyIdOf } from './json-web-token.ts'

export interface AccountKeySet {
  readonly signing: KeyPair
  /** Further keys whose tokens are accepted. */
  readonly accepted: readonly PublicKey[]
}

export class AccountKeys {
  readonly #crypto: CryptoProvider
  #signing: KeyPair
  #signingId: string
  #accepted: ReadonlyMap<string, PublicKey>

  constructor(keys: AccountKeySet, crypto: CryptoProvider) {
    this.#crypto = crypto
    this.#signing = keys.signing
    this.#signingId = this.#idOf(keys.signing)
    this.#accepted = this.#byId(keys)
  }

  get signing(): KeyPair {
    return this.#signing
  }

  /** The id of the signing key in tokens. */
  get signingId(): string {
    return this.#signingId
  }

  /** All keys whose tokens are accepted, by their ids, the signing key first. A replacement makes a new map. */
  get accepted(): ReadonlyMap<string, PublicKey> {
    return this.#accepted
  }

  replace(keys: AccountKeySet): void {
    this.#signing = keys.signing
    this.#signingId = this.#idOf(keys.signing)
    this.#accepted = this.#byId(keys)
  }

  #byId({ signing, accepted }: AccountKeySet): ReadonlyMap<string, PublicKey> {
    const all = [this.#crypto.loadPublicKey(signing.publicKey), ...accepted]
    return new Map(all.map((key) => [this.#idOf(key), key]))
  }

  #idOf({ publicKey }: Pick<PublicKey, 'publicKey'>): string {
    return keyIdOf(publicKey, this.#crypto)
  }
}
