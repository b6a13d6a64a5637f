// Authority: the certificate authority of the cluster. It signs the certificates of components and users.
import type { Clock } from '../base/time/clock.ts'
import type { Random } from '../base/random/random.ts'
import type { CryptoProvider } from '../platform/crypto/crypto.ts'
import { encodeAddress, keyIdOf, encodeName, signCertificate, type Issuer, type Subject } from './certificate.ts'
import { parseCertificate } from './parse-certificate.ts'
import { decodePem, pemBlocks } from './pem.ts'
import { readSigned } from './x509-reader.ts'
import { isSignedWith } from './x509-signature.ts'
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

const authorityUsages = ['digital signature', 'cert sign', 'crl sign']
const noNames = { dnsNames: [], addresses: [], emails: [], uris: [] }

/** Whether the key of the second certificate (PEM) has signed the first one. */
export const isSignedBy = (certificate: string, authority: string, crypto: CryptoProvider): boolean =>
  isSignedWith(readSigned(decodePem(certificate), 'the certificate'), parseCertificate(authority).publicKey, crypto)

/** As `Authority` has them. */
interface AuthorityCertificates {
  readonly own: string
  readonly trusted: string
  readonly chain: string
}

const pemText = (blocks: readonly string[]): string => blocks.map((block) => `${block}\n`).join('')

export class Authority implements CertificateSigner {
  /** PEM of the certificate that it signs with. */
  readonly certificate: string
  /** PEM of all certificates that verify what it, and authorities that it replaces or will be replaced by, have signed. */
  readonly trusted: string
  /** PEM of certificates in which earlier authorities sign this one, for clients that trust only these. Empty if there are none. */
  readonly chain: string
  readonly #issuer: Issuer
  readonly #deps: AuthorityDeps

  private constructor(certificates: AuthorityCertificates, issuer: Issuer, deps: AuthorityDeps) {
    this.certificate = certificates.own
    this.trusted = certificates.trusted
    this.chain = certificates.chain
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
        usages: authorityUsages,
        altNames: noNames,
        publicKey: key.publicKey,
        notBeforeMs,
        notAfterMs: notBeforeMs + authorityDays * dayMs,
      },
      issuer,
      deps.random,
      deps.crypto,
    )
    return new Authority({ own: certificate, trusted: certificate, chain: '' }, issuer, deps)
  }

  /**
   * Loads an authority that was created earlier, by Coxswain or another tool. Besides its own certificate there may be those of other
   * authorities that are trusted, and those in which others sign this one.
   */
  static load({ certificate: text, key: privateKey }: Identity, deps: AuthorityDeps): Authority {
    const key = deps.crypto.loadKey(privateKey)
    const isOwn = (pem: string) => deps.crypto.timingSafeEqual(parseCertificate(pem).publicKey, key.publicKey)
    const { own: [own, ...chain] = [], others = [] } = Object.groupBy(pemBlocks(text, 'CERTIFICATE'), (pem) =>
      isOwn(pem) ? 'own' : 'others',
    )
    if (own === undefined) throw new Error('the key of the authority is not the key of its certificate')
    const { subject, publicKey, subjectKeyId } = parseCertificate(own)
    const keyId = subjectKeyId ?? keyIdOf(publicKey, deps.crypto)
    const certificates = {
      own: pemText([own]),
      // A text with a single certificate stays as it is, comments included.
      trusted: chain.length + others.length === 0 ? text : pemText([own, ...others]),
      chain: pemText(chain),
    }
    return new Authority(certificates, { name: subject, keyId, key }, deps)
  }

  get identity(): Identity {
    return { certificate: this.certificate, key: this.#issuer.key.privateKey }
  }

  /** Whether it has signed the certificate (PEM). */
  hasSigned(certificate: string): boolean {
    return isSignedBy(certificate, this.certificate, this.#deps.crypto)
  }

  /** A certificate of the other authority that is signed by this one, for clients that trust only this one. */
  crossSign(other: Authority): string {
    const { crypto, random } = this.#deps
    const theirs = parseCertificate(other.certificate)
    const own = parseCertificate(this.certificate)
    return signCertificate(
      {
        name: theirs.subject,
        isAuthority: true,
        usages: authorityUsages,
        altNames: noNames,
        publicKey: theirs.publicKey,
        notBeforeMs: Math.max(theirs.notBeforeMs, own.notBeforeMs),
        notAfterMs: Math.min(theirs.notAfterMs, own.notAfterMs),
      },
      this.#issuer,
      random,
      crypto,
    )
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
