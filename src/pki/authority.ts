// Authority: the cluster's own certificate authority. It signs the certificates of every component and user.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { CryptoProvider } from '../platform/crypto.ts'
import { keyIdOf, nameOf, signCertificate, type CertificateUse, type Issuer, type Subject } from './certificate.ts'
import { readCertificate } from './read-certificate.ts'

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
  readonly #issuer: Issuer
  readonly #parts: AuthorityParts

  private constructor(certificate: string, issuer: Issuer, parts: AuthorityParts) {
    this.certificate = certificate
    this.#issuer = issuer
    this.#parts = parts
  }

  static create(commonName: string, parts: AuthorityParts): Authority {
    const key = parts.crypto.generateKey()
    const subject = { commonName, organizations: [] }
    const issuer = { name: nameOf(subject), keyId: keyIdOf(key.publicKey, parts.crypto), key }
    const request = { subject, uses: ['authority'] as const }
    return new Authority(sign(request, authorityDays, key.publicKey, issuer, parts), issuer, parts)
  }

  /** An authority that was made before, here or elsewhere. */
  static load({ certificate, key: privateKey }: Identity, parts: AuthorityParts): Authority {
    const key = parts.crypto.loadKey(privateKey)
    const { subject, publicKey, subjectKeyId } = readCertificate(certificate)
    if (!parts.crypto.equalInConstantTime(publicKey, key.publicKey))
      throw new Error('the key of the authority is not the key of its certificate')
    const keyId = subjectKeyId ?? keyIdOf(publicKey, parts.crypto)
    return new Authority(certificate, { name: subject, keyId, key }, parts)
  }

  get identity(): Identity {
    return { certificate: this.certificate, key: this.#issuer.key.privateKey }
  }

  issue(request: IdentityRequest): Identity {
    const key = this.#parts.crypto.generateKey()
    return { certificate: sign(request, identityDays, key.publicKey, this.#issuer, this.#parts), key: key.privateKey }
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
  issuer: Issuer,
  { clock, random, crypto }: AuthorityParts,
): string {
  const notBeforeMs = clock.nowMs() - clockSkewMs
  const { subject, uses, dnsNames = [], addresses = [] } = request
  const whole = { subject, uses, dnsNames, addresses, publicKey, notBeforeMs, notAfterMs: notBeforeMs + days * dayMs }
  return signCertificate(whole, issuer, random, crypto)
}
