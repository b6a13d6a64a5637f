// Authority: the certificate authority of the cluster. It signs the certificates of components and users.
import type { Clock } from '../base/time/clock.ts'
import type { Random } from '../base/random/random.ts'
import type { CryptoProvider } from '../platform/crypto/crypto.ts'
import { encodeAddress, keyIdOf, encodeName, signCertificate, type Issuer, type Subject } from './certificate.ts'
import { parseCertificate } from './parse-certificate.ts'
import { verifyRequestSignature, type RequestedCertificate } from './parse-certificate-request.ts'
import type { CertificateSigner } from './certificate-signer.ts'

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
/** Certificates are valid from a little before they are issued, because clocks differ between machines. */
const clockSkewMs = 300_000
/** Certificates with a shorter lifetime than this do not lose clockSkewMs of it. */
const shortLifetimeMs = 8 * 3_600_000

export class Authority implements CertificateSigner {
  readonly certificate: string
  readonly #issuer: Issuer
  readonly #deps: AuthorityDeps

  private constructor(certificate: string, issuer: Issuer, deps: AuthorityDeps) {
    this.certificate = certificate
    this.#issuer = issuer
    this.#deps = deps
  }

  static create(commonName: string, deps: AuthorityDeps): Authority {
    const key = deps.crypto.generateKey()
    const subject = { commonName, organizations: [] }
    const issuer = { name: encodeName(subject), keyId: keyIdOf(key.publicKey, deps.crypto), key }
    const notBeforeMs = deps.clock.nowMs() - clockSkewMs
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
      deps.random,
      deps.crypto,
    )
    return new Authority(certificate, issuer, deps)
  }

  /** Loads an authority that was created earlier, by Coxswain or another tool. */
  static load({ certificate, key: privateKey }: Identity, deps: AuthorityDeps): Authority {
    const key = deps.crypto.loadKey(privateKey)
    const { subject, publicKey, subjectKeyId } = parseCertificate(certificate)
    if (!deps.crypto.timingSafeEqual(publicKey, key.publicKey))
      throw new Error('the key of the authority is not the key of its certificate')
    const keyId = subjectKeyId ?? keyIdOf(publicKey, deps.crypto)
    return new Authority(certificate, { name: subject, keyId, key }, deps)
  }

  get identity(): Identity {
    return { certificate: this.certificate, key: this.#issuer.key.privateKey }
  }

  issue({ subject, uses, dnsNames = [], addresses = [] }: IdentityRequest): Identity {
    const key = this.#deps.crypto.generateKey()
    const requested = {
      name: encodeName(subject),
      publicKey: key.publicKey,
      altNames: { dnsNames, addresses: addresses.map(encodeAddress), emails: [], uris: [] },
    }
    const usages = ['digital signature', 'key encipherment', ...uses.map((use) => `${use} auth`)]
    return { certificate: this.sign(requested, usages, identityDays * dayMs), key: key.privateKey }
  }

  sign(
    { name, publicKey, altNames }: Pick<RequestedCertificate, 'name' | 'publicKey' | 'altNames'>,
    usages: readonly string[],
    lifetimeMs: number,
  ): string {
    const { clock, random, crypto } = this.#deps
    const nowMs = clock.nowMs()
    const ownEndMs = parseCertificate(this.certificate).notAfterMs
    if (nowMs >= ownEndMs) throw new Error(`the signer has expired: NotAfter=${new Date(ownEndMs).toISOString()}`)
    const notAfterMs = Math.min(ownEndMs, nowMs + lifetimeMs - (lifetimeMs < shortLifetimeMs ? 0 : clockSkewMs))
    const notBeforeMs = nowMs - clockSkewMs
    const request = { name, publicKey, altNames, usages, isAuthority: false, notBeforeMs, notAfterMs }
    return signCertificate(request, this.#issuer, random, crypto)
  }

  verifyRequest(request: string): boolean {
    return verifyRequestSignature(request, this.#deps.crypto)
  }
}

export interface AuthorityDeps {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: CryptoProvider
}
