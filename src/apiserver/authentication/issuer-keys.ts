// IssuerKeys: the public keys of an OpenID issuer, found by its discovery and fetched again when a token names a key
// that is not among them.
import type { CryptoProvider, PublicKey } from '../../platform/crypto/crypto.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import { exchangeJson, type JsonServer } from '../outbound/outbound-json.ts'

/** A sender of nonsense cannot make us ask the issuer more often than this. */
const refetchMsMin = 10_000
const keysMax = 100

interface NamedKey {
  /** `kid`; empty when the issuer gave none. */
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

  /** The keys that may have signed a token which names this one, or none. */
  async keysFor(keyId: string): Promise<readonly PublicKey[]> {
    if (this.#find(keyId).length === 0) await this.#refetch()
    return this.#find(keyId)
  }

  /** Several keys may have one id; a token that names none may be of any. */
  #find(keyId: string): readonly PublicKey[] {
    return this.#keys.filter(({ id }) => keyId === '' || keyId === id).map(({ key }) => key)
  }

  async #refetch(): Promise<void> {
    const { clock } = this.#serverAt(new URL(this.#discoveryUrl).origin)
    if (clock.nowMs() - this.#fetchedMs < refetchMsMin && this.#fetching === undefined) return
    this.#fetchedMs = clock.nowMs()
    // Those who come meanwhile wait for the same answer.
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined))
    await this.#fetching
  }

  async #fetch(): Promise<void> {
    // Many may wait for the answer, so nobody's leaving ends it; its time is bounded.
    const { signal } = new AbortController()
    const { issuer, jwks_uri: keysUrl } = await this.#get(this.#discoveryUrl, signal)
    if (issuer !== this.#issuer)
      throw new Error(`the issuer calls itself ${JSON.stringify(issuer)}, not ${JSON.stringify(this.#issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) throw new Error('the issuer names no jwks_uri')
    const { keys } = await this.#get(keysUrl, signal)
    // An answer without a list is an error: the known keys stay.
    if (!Array.isArray(keys)) throw new Error('the issuer answered without a list of keys')
    const found: NamedKey[] = []
    for (const key of keys.slice(0, keysMax)) {
      if (!isJsonObject(key) || (key['use'] ?? 'sig') !== 'sig') continue
      try {
        found.push({ id: typeof key['kid'] === 'string' ? key['kid'] : '', key: this.#crypto.loadPublicKey(key) })
      } catch {
        // A key of a sort that is not known here cannot have signed what is accepted here.
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
