// Authority: the cluster's own certificate authority. It signs the certificates of every component and user.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { CryptoProvider, KeyPair } from '../platform/crypto.ts'
import { signCertificate, type CertificateUse, type Subject } from './certificate.ts'

export interface Identity {
  /** PEM */
  readonly certificate: string
  /** PEM, PKCS 8 */
  readonly key: string
}

export interface IdentityRequest {
  readonly subject: Subject
  readonly uses: readonly CertificateUse[]
  readonly dnsNames?: readonly string[]
  readonly addresses?: readonly string[]
}

const dayMs = 86_400_000
const authorityDays = 3650
const identityDays = 365
// A certificate is valid a little before it was made: the clocks of two machines differ.
const clockSkewMs = 300_000

export class Authority {
  readonly certificate: string
  readonly #subject: Subject
  readonly #key: KeyPair
  readonly #parts: AuthorityParts

  private constructor(identity: Identity, subject: Subject, key: KeyPair, parts: AuthorityParts) {
    this.certificate = identity.certificate
    this.#subject = subject
    this.#key = key
    this.#parts = parts
  }

  static create(commonName: string, parts: AuthorityParts): Authority {
    const key = parts.crypto.generateKey()
    const subject = { commonName, organizations: [] }
    const request = { subject, uses: ['authority'] as const, dnsNames: [], addresses: [] }
    const certificate = sign(request, authorityDays, key.publicKey, { subject, key }, parts)
    return new Authority({ certificate, key: key.privateKey }, subject, key, parts)
  }

  /** An authority that was stored before. */
  static load(commonName: string, identity: Identity, parts: AuthorityParts): Authority {
    return new Authority(identity, { commonName, organizations: [] }, parts.crypto.loadKey(identity.key), parts)
  }

  get identity(): Identity {
    return { certificate: this.certificate, key: this.#key.privateKey }
  }

  issue(request: IdentityRequest): Identity {
    const key = this.#parts.crypto.generateKey()
    const issuer = { subject: this.#subject, key: this.#key }
    return { certificate: sign(request, identityDays, key.publicKey, issuer, this.#parts), key: key.privateKey }
  }
}

export interface AuthorityParts {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: CryptoProvider
}

function sign(
  request: IdentityRequest,
  days: number,
  publicKey: Uint8Array,
  issuer: { subject: Subject; key: KeyPair },
  { clock, random, crypto }: AuthorityParts,
): string {
  const notBeforeMs = clock.nowMs() - clockSkewMs
  const { subject, uses, dnsNames = [], addresses = [] } = request
  const whole = { subject, uses, dnsNames, addresses, publicKey, notBeforeMs, notAfterMs: notBeforeMs + days * dayMs }
  return signCertificate(whole, issuer, random, crypto)
}
