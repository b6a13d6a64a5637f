// Authority: the cluster's own certificate authority. It signs the certificates of every component and user.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { CryptoProvider } from '../platform/crypto.ts'
import { addressBytes, keyIdOf, nameOf, signCertificate, type Issuer, type Subject } from './certificate.ts'
import { readCertificate } from './read-certificate.ts'
import { isSignedByItsKey, type AskedCertificate } from './read-request.ts'
import type { CertificateSigner } from './signer.ts'

export interface Identity {
  /** PEM */
  readonly certificate: string
  /** PEM, PKCS 8 */
  readonly key: string
}

export type CertificateUse = 'client' | 'server'

export interface IdentityRequest {
  readonly subject: Subject
  readonly uses: readonly CertificateUse[]
  readonly dnsNames?: readonly string[]
  readonly addresses?: readonly string[]
}

const dayMs = 86_400_000
const authorityDays = 3650
const identityDays = 365
/** A certificate is valid a little before it was made: the clocks of two machines differ. */
const clockSkewMs = 300_000
/** One that is asked for this short a life keeps all of it in spite of that. */
const shortLifeMs = 8 * 3_600_000

export class Authority implements CertificateSigner {
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
    const notBeforeMs = parts.clock.nowMs() - clockSkewMs
    const certificate = signCertificate(
      {
        name: issuer.name,
        isAuthority: true,
        usages: ['digital signature', 'cert sign', 'crl sign'],
        altNames: { dnsNames: [], addresses: [], emails: [], uris: [] },
        publicKey: key.publicKey,
        notBeforeMs,
        notAfterMs: notBeforeMs + authorityDays * dayMs,
      },
      issuer,
      parts.random,
      parts.crypto,
    )
    return new Authority(certificate, issuer, parts)
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

  issue({ subject, uses, dnsNames = [], addresses = [] }: IdentityRequest): Identity {
    const key = this.#parts.crypto.generateKey()
    const asked = {
      name: nameOf(subject),
      publicKey: key.publicKey,
      altNames: { dnsNames, addresses: addresses.map(addressBytes), emails: [], uris: [] },
    }
    const usages = ['digital signature', 'key encipherment', ...uses.map((use) => `${use} auth`)]
    return { certificate: this.sign(asked, usages, identityDays * dayMs), key: key.privateKey }
  }

  sign(
    { name, publicKey, altNames }: Pick<AskedCertificate, 'name' | 'publicKey' | 'altNames'>,
    usages: readonly string[],
    lifeMs: number,
  ): string {
    const { clock, random, crypto } = this.#parts
    const nowMs = clock.nowMs()
    const ownEndMs = readCertificate(this.certificate).notAfterMs
    if (nowMs >= ownEndMs) throw new Error(`the signer has expired: NotAfter=${new Date(ownEndMs).toISOString()}`)
    const notAfterMs = Math.min(ownEndMs, nowMs + lifeMs - (lifeMs < shortLifeMs ? 0 : clockSkewMs))
    const notBeforeMs = nowMs - clockSkewMs
    const request = { name, publicKey, altNames, usages, isAuthority: false, notBeforeMs, notAfterMs }
    return signCertificate(request, this.#issuer, random, crypto)
  }

  isSignedByItsKey(request: string): boolean {
    return isSignedByItsKey(request, this.#parts.crypto)
  }
}

export interface AuthorityParts {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: CryptoProvider
}
