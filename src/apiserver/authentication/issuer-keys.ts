// IssuerKeys: the public keys of an OpenID Connect issuer. They are fetched through discovery, and again when a token has an
// unknown key id.
import type { CryptoProvider, PublicKey } from '../../platform/crypto/crypto.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import { exchangeJson, type JsonServer } from '../outbound/outbound-json.ts'

/** Tokens with unknown key ids cannot cause more frequent fetches. */
const refetchMsMin = 10_000
const keysMax = 100

interface NamedKey {
  /** `kid`; empty if the key has none. */
  readonly id: string
  readonly key: PublicKey
}

export class IssuerKeys {
  readonly #issuer: string
  readonly #discoveryUrl: string
  readonly #serverAt: (origin: string) => JsonServer
  readonly #crypto: CryptoProvider
  #keys: readonly NamedKey[] = []
  #fetchedMs = -Infinity
  #fetching: Promise<void> | undefined

  constructor(issuer: string, discoveryUrl: string, serverAt: (origin: string) => JsonServer, crypto: CryptoProvider) {
    this.#issuer = issuer
    this.#discoveryUrl = discoveryUrl
    this.#serverAt = serverAt
    this.#crypto = crypto
  }

  /** The keys that may have signed a token with this key id. */
  async keysFor(keyId: string): Promise<readonly PublicKey[]> {
    if (this.#find(keyId).length === 0) await this.#refetch()
    return this.#find(keyId)
  }

  /** Several keys may have the same id; a token without an id is verified with all keys. */
  #find(keyId: string): readonly PublicKey[] {
    return this.#keys.filter(({ id }) => keyId === '' || keyId === id).map(({ key }) => key)
  }

  async #refetch(): Promise<void> {
    const { clock } = this.#serverAt(new URL(this.#discoveryUrl).origin)
    if (clock.nowMs() - this.#fetchedMs < refetchMsMin && this.#fetching === undefined) return
    this.#fetchedMs = clock.nowMs()
    // Concurrent requests wait for the same fetch.
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined))
    await this.#fetching
  }

  async #fetch(): Promise<void> {
    // Several requests may wait for it, so no request's signal cancels it; its time is bounded by the server's timeout.
    const { signal } = new AbortController()
    const { issuer, jwks_uri: keysUrl } = await this.#get(this.#discoveryUrl, signal)
    if (issuer !== this.#issuer)
      throw new Error(`the issuer calls itself ${JSON.stringify(issuer)}, not ${JSON.stringify(this.#issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) throw new Error('the issuer names no jwks_uri')
    const { keys } = await this.#get(keysUrl, signal)
    // A response without a list is an error, and the known keys are kept.
    if (!Array.isArray(keys)) throw new Error('the issuer answered without a list of keys')
    const found: NamedKey[] = []
    for (const key of keys.slice(0, keysMax)) {
      if (!isJsonObject(key) || (key['use'] ?? 'sig') !== 'sig') continue
      try {
        found.push({ id: typeof key['kid'] === 'string' ? key['kid'] : '', key: this.#crypto.loadPublicKey(key) })
      } catch {
        // Keys of unsupported types cannot have signed a token with a supported algorithm.
      }
    }
    this.#keys = found
  }

  async #get(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { origin, pathname, search } = new URL(url)
    const request = { method: 'GET', target: pathname + search, headers: { accept: 'application/json' } }
    const { status, value } = await exchangeJson(this.#serverAt(origin), request, signal)
    if (!isJsonObject(value)) throw new Error(`${origin} answered ${status}`)
    return value
  }
}
