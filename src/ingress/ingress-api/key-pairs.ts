// KeyPairs: the certificates in Secrets. Reading and checking one takes a third of a millisecond, so each version of a
// Secret is checked once, and many of them in slices.
import type { Secret } from '../../api/core/v1/secret.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { KeyPair } from '../../platform/http/listener.ts'

/** Of a certificate with its authorities, or of a key. A handshake has to send it. */
export const keyPairCharactersMax = 100_000

export class KeyPairs {
  readonly #isKeyPair: (certificate: string, key: string) => boolean
  readonly #checked = new WeakMap<Secret, KeyPair | 'invalid'>()

  /** `isKeyPair`: whether the text is a certificate and its key. */
  constructor(isKeyPair: (certificate: string, key: string) => boolean) {
    this.#isKeyPair = isKeyPair
  }

  /** The certificate in a Secret; the same object for the same version of the Secret. Undefined if it has no valid one. */
  of(secret: Secret): KeyPair | undefined {
    const known = this.#checked.get(secret) ?? this.#check(secret)
    this.#checked.set(secret, known)
    return known === 'invalid' ? undefined : known
  }

  /** Checks Secrets in advance. */
  *check(secrets: Iterable<Secret | undefined>, slice: Slice): Sliced<void> {
    for (const secret of secrets) {
      if (secret !== undefined) this.of(secret)
      if (slice.isUsedUp()) yield
    }
  }

  #check({ data }: Secret): KeyPair | 'invalid' {
    const certificate = textOf(lookup(data, 'tls.crt'))
    const key = textOf(lookup(data, 'tls.key'))
    if (certificate === undefined || key === undefined) return 'invalid'
    return this.#isKeyPair(certificate, key) ? { certificate, key } : 'invalid'
  }
}

function textOf(base64: string | undefined): string | undefined {
  if (base64 === undefined || base64.length > keyPairCharactersMax) return undefined
  return new TextDecoder().decode(Uint8Array.fromBase64(base64))
}
