// PkiDirectory: keys and certificates as files. A pair that is missing is created; one that is damaged is replaced if it can
// be issued again.
import { Authority, type AuthorityDeps, type Identity, type IdentityRequest } from '../../pki/authority.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import { pemBlocks } from '../../pki/pem.ts'
import type { AccountKeySet } from '../../apiserver/authentication/account-keys.ts'
import type { Platform } from '../../platform/platform.ts'
import { accountKeysIn } from './account-key-file.ts'

export interface PkiDirectoryDeps {
  readonly platform: Platform
  /** An earlier first start was interrupted: incomplete pairs were never used and are created again. */
  readonly isUnfinished?: boolean
}

/** A certificate is renewed when a third of its lifetime is left. */
export function renewalMs(certificate: string): number {
  const { notBeforeMs, notAfterMs } = parseCertificate(certificate)
  return notAfterMs - (notAfterMs - notBeforeMs) / 3
}

export const needsRenewal = (certificate: string, nowMs: number): boolean => nowMs > renewalMs(certificate)

/** Keys and certificates as files, readable by their owner only. */
export class PkiDirectory {
  readonly #directory: string
  readonly #platform: Platform
  readonly #isUnfinished: boolean

  constructor(directory: string, { platform, isUnfinished = false }: PkiDirectoryDeps) {
    this.#directory = directory
    this.#platform = platform
    this.#isUnfinished = isUnfinished
  }

  async authority(name: string, commonName: string, deps: AuthorityDeps): Promise<Authority> {
    const [certificate, key] = await this.#read(name)
    if (certificate !== undefined && key !== undefined)
      return this.#loaded(`${name}.crt`, `${name}.key`, certificate, key, deps)
    if ((certificate !== undefined || key !== undefined) && !this.#isUnfinished)
      throw new Error(
        `${this.#path(`${name}.${certificate === undefined ? 'crt' : 'key'}`)} is missing, and the other half of the pair is there; ${waysOut}`,
      )
    const authority = Authority.create(commonName, deps)
    await this.#write(name, authority.identity)
    return authority
  }

  /** A pair that is damaged, incomplete or of another issuer is replaced. */
  async identity(name: string, issuer: Authority, request: IdentityRequest, nowMs: number): Promise<Identity> {
    const [certificate, key] = await this.#read(name)
    if (certificate !== undefined && key !== undefined && this.#isUsable({ certificate, key }, issuer, nowMs))
      return { certificate, key }
    const identity = issuer.issue(request)
    await this.#write(name, identity)
    return identity
  }

  async accountKeys(name: string): Promise<AccountKeySet> {
    const { crypto, files } = this.#platform
    const file = `${name}.key`
    const stored = await files.read(this.#path(file))
    if (stored !== undefined) return this.#accountKeysIn(file, text(stored))
    const key = crypto.generateKey()
    await files.write(this.#path(file), key.privateKey)
    return { signing: key, accepted: [] }
  }

  #accountKeysIn(file: string, content: string): AccountKeySet {
    try {
      return accountKeysIn(content, this.#platform.crypto)
    } catch (error) {
      throw this.#unusable(file, content, 'private key', error)
    }
  }

  #loaded(certificateFile: string, keyFile: string, certificate: string, key: string, deps: AuthorityDeps): Authority {
    this.#requireKey(keyFile, key)
    try {
      for (const block of pemBlocks(certificate, 'CERTIFICATE')) parseCertificate(block)
      parseCertificate(certificate)
    } catch (error) {
      throw this.#unusable(certificateFile, certificate, 'certificate', error)
    }
    try {
      return Authority.load({ certificate, key }, deps)
    } catch (error) {
      throw new Error(`${this.#path(certificateFile)} and ${keyFile} do not belong together; ${waysOut}`, {
        cause: error,
      })
    }
  }

  #requireKey(file: string, content: string): void {
    try {
      this.#platform.crypto.loadKey(content)
    } catch (error) {
      throw this.#unusable(file, content, 'private key', error)
    }
  }

  #unusable(file: string, content: string, what: string, cause: unknown): Error {
    const state = content.trim() === '' ? 'is empty' : `holds no ${what} in PEM`
    return new Error(`${this.#path(file)} ${state}; ${waysOut}`, { cause: content.trim() === '' ? undefined : cause })
  }

  #isUsable({ certificate, key }: Identity, issuer: Authority, nowMs: number): boolean {
    const { crypto } = this.#platform
    try {
      const { publicKey } = crypto.loadKey(key)
      return (
        crypto.timingSafeEqual(publicKey, parseCertificate(certificate).publicKey) &&
        !needsRenewal(certificate, nowMs) &&
        issuer.hasSigned(certificate)
      )
    } catch {
      return false
    }
  }

  async #read(name: string): Promise<[certificate: string | undefined, key: string | undefined]> {
    const { files } = this.#platform
    const read = async (file: string) => {
      const content = await files.read(this.#path(file))
      return content && text(content)
    }
    return Promise.all([read(`${name}.crt`), read(`${name}.key`)])
  }

  async #write(name: string, { certificate, key }: Identity): Promise<void> {
    const { files } = this.#platform
    await Promise.all([
      files.write(this.#path(`${name}.key`), key),
      files.write(this.#path(`${name}.crt`), certificate),
    ])
  }

  #path(file: string): string {
    return `${this.#directory}/${file}`
  }
}

const waysOut =
  'restore the file, or the cluster from a snapshot (coxswain restore), or give the cluster up (coxswain reset)'

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
