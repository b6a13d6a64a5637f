// The keys and certificates of the cluster: created at the first start, stored in the data directory, and renewed
// before they expire. An existing authority is used.
import { isIp } from '../../base/net/ip-bytes.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import { Authority, type AuthorityDeps, type Identity, type IdentityRequest } from '../../pki/authority.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import type { KeyPair } from '../../platform/crypto/crypto.ts'
import type { Platform } from '../../platform/platform.ts'
import { isWildcard } from './serving-hosts.ts'

export interface ClusterCertificates {
  /** Signs server and client certificates. */
  readonly authority: string
  /** Signs certificates of front proxies, which may assert users. */
  readonly proxyAuthority: string
  /** Signs CertificateSigningRequests. */
  readonly signer: CertificateSigner
  /** Signs ServiceAccount tokens. */
  readonly accountKey: KeyPair
  readonly serving: Identity
  readonly admin: Identity
  /** Client certificates of components that run in their own processes. */
  readonly components: Readonly<Record<ComponentName, Identity>>
}

export interface PkiDeps {
  readonly platform: Platform
  readonly clock: Clock
  readonly random: Random
  /** Addresses and names of the API server, in addition to the default ones. */
  readonly hosts: readonly string[]
  /** An earlier first start was interrupted: incomplete pairs were never used and are created again. */
  readonly isUnfinished?: boolean
}

const client = (commonName: string, ...organizations: string[]): IdentityRequest => ({
  subject: { commonName, organizations },
  uses: ['client'],
})

const componentRequests = {
  'apiserver-kubelet-client': client('kube-apiserver-kubelet-client'),
  'controller-manager': client('system:kube-controller-manager'),
  'front-proxy-client': client('front-proxy-client'),
  kubelet: {
    subject: { commonName: 'system:node:localhost', organizations: ['system:nodes'] },
    uses: ['server'],
    dnsNames: ['localhost'],
    addresses: ['127.0.0.1', '::1'],
  },
  scheduler: client('system:kube-scheduler'),
} as const satisfies Readonly<Record<string, IdentityRequest>>

export type ComponentName = keyof typeof componentRequests
const componentNames = Object.keys(componentRequests) as ComponentName[]

const adminRequest = client('kubernetes-admin', 'system:masters')

const servingRequest = (hosts: readonly string[]): IdentityRequest => ({
  subject: { commonName: 'kube-apiserver', organizations: [] },
  uses: ['server'],
  dnsNames: [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    ...hosts.filter((host) => !isIp(host) && host !== 'localhost'),
  ],
  addresses: [
    ...new Set(['127.0.0.1', '::1', '10.96.0.1', ...hosts.filter((host) => isIp(host) && !isWildcard(host))]),
  ],
})

/** A certificate is renewed when a third of its lifetime is left. */
export function renewalMs(certificate: string): number {
  const { notBeforeMs, notAfterMs } = parseCertificate(certificate)
  return notAfterMs - (notAfterMs - notBeforeMs) / 3
}

export const needsRenewal = (certificate: string, nowMs: number): boolean => nowMs > renewalMs(certificate)

export async function clusterCertificates(directory: string, deps: PkiDeps): Promise<ClusterCertificates> {
  const store = new PkiDirectory(directory, deps)
  await deps.platform.files.makeDirectory(directory)
  const authorityParts = authorityPartsOf(deps)
  const [authority, proxyAuthority, accountKey] = await Promise.all([
    store.authority('ca', 'kubernetes', authorityParts),
    store.authority('front-proxy-ca', 'front-proxy-ca', authorityParts),
    store.key('sa'),
  ])
  const nowMs = deps.clock.nowMs()
  const components = await Promise.all(
    componentNames.map(async (name) => {
      const issuer = issuerOf(name, authority, proxyAuthority)
      return [name, await store.identity(name, issuer, componentRequests[name], nowMs)] as const
    }),
  )
  return {
    ...transient(authority, deps.hosts),
    proxyAuthority: proxyAuthority.certificate,
    accountKey,
    components: Object.fromEntries(components) as ClusterCertificates['components'],
  }
}

/** For a cluster that stores nothing. */
export function temporaryCertificates(deps: PkiDeps): ClusterCertificates {
  const authorityParts = authorityPartsOf(deps)
  const authority = Authority.create('kubernetes', authorityParts)
  const proxyAuthority = Authority.create('front-proxy-ca', authorityParts)
  const components = componentNames.map((name) => [
    name,
    issuerOf(name, authority, proxyAuthority).issue(componentRequests[name]),
  ])
  return {
    ...transient(authority, deps.hosts),
    proxyAuthority: proxyAuthority.certificate,
    accountKey: deps.platform.crypto.generateKey(),
    components: Object.fromEntries(components) as ClusterCertificates['components'],
  }
}

const authorityPartsOf = ({ clock, random, platform }: PkiDeps): AuthorityDeps => ({
  clock,
  random,
  crypto: platform.crypto,
})

const issuerOf = (name: ComponentName, authority: Authority, proxyAuthority: Authority): Authority =>
  name === 'front-proxy-client' ? proxyAuthority : authority

// Created at each start. Their keys are not stored, except the admin's in the kubeconfig.
const transient = (authority: Authority, hosts: readonly string[]) => ({
  authority: authority.certificate,
  signer: authority,
  serving: authority.issue(servingRequest(hosts)),
  admin: authority.issue(adminRequest),
})

/** Keys and certificates as files, readable by their owner only. */
class PkiDirectory {
  readonly #directory: string
  readonly #platform: Platform
  readonly #isUnfinished: boolean

  constructor(directory: string, { platform, isUnfinished = false }: PkiDeps) {
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

  /** A damaged or incomplete pair is replaced when it can be issued again. */
  async identity(name: string, issuer: Authority, request: IdentityRequest, nowMs: number): Promise<Identity> {
    const [certificate, key] = await this.#read(name)
    if (certificate !== undefined && key !== undefined && this.#isUsable({ certificate, key }, nowMs))
      return { certificate, key }
    const identity = issuer.issue(request)
    await this.#write(name, identity)
    return identity
  }

  async key(name: string): Promise<KeyPair> {
    const { crypto, files } = this.#platform
    const file = `${name}.key`
    const stored = await files.read(this.#path(file))
    if (stored !== undefined) return this.#keyIn(file, text(stored))
    const key = crypto.generateKey()
    await files.write(this.#path(file), key.privateKey)
    return key
  }

  #loaded(certificateFile: string, keyFile: string, certificate: string, key: string, deps: AuthorityDeps): Authority {
    this.#keyIn(keyFile, key)
    try {
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

  #keyIn(file: string, content: string): KeyPair {
    try {
      return this.#platform.crypto.loadKey(content)
    } catch (error) {
      throw this.#unusable(file, content, 'private key', error)
    }
  }

  #unusable(file: string, content: string, what: string, cause: unknown): Error {
    const state = content.trim() === '' ? 'is empty' : `holds no ${what} in PEM`
    return new Error(`${this.#path(file)} ${state}; ${waysOut}`, { cause: content.trim() === '' ? undefined : cause })
  }

  #isUsable({ certificate, key }: Identity, nowMs: number): boolean {
    const { crypto } = this.#platform
    try {
      const { publicKey } = crypto.loadKey(key)
      return (
        crypto.timingSafeEqual(publicKey, parseCertificate(certificate).publicKey) && !needsRenewal(certificate, nowMs)
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
