// The keys and certificates of the cluster: created at the first start, stored in the data directory, and renewed
// before they expire. An existing authority is used.
import { isIp } from '../../base/net/ip-bytes.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import { Authority, type AuthorityDeps, type Identity, type IdentityRequest } from '../../pki/authority.ts'
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import type { KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import type { Platform } from '../../platform/platform.ts'
import { PkiDirectory } from './pki-directory.ts'
import { isWildcard } from './serving-hosts.ts'

export interface ClusterCertificates {
  /** Verify server and client certificates: that of the CA, and while it is rotated those of others. */
  readonly authority: string
  /** Verify certificates of front proxies, which may assert users. */
  readonly proxyAuthority: string
  /** Signs CertificateSigningRequests. */
  readonly signer: CertificateSigner
  /** Signs ServiceAccount tokens. */
  readonly accountKey: KeyPair
  /** Further keys whose ServiceAccount tokens are accepted. */
  readonly oldAccountKeys: readonly PublicKey[]
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

export async function clusterCertificates(directory: string, deps: PkiDeps): Promise<ClusterCertificates> {
  const store = new PkiDirectory(directory, deps)
  await deps.platform.files.makeDirectory(directory)
  const authorityParts = authorityPartsOf(deps)
  const [authority, proxyAuthority, accountKeys] = await Promise.all([
    store.authority('ca', 'kubernetes', authorityParts),
    store.authority('front-proxy-ca', 'front-proxy-ca', authorityParts),
    store.accountKeys('sa'),
  ])
  const nowMs = deps.clock.nowMs()
  const components = await Promise.all(
    componentNames.map(async (name) => {
      const issuer = issuerOf(name, authority, proxyAuthority)
      return [name, withChain(await store.identity(name, issuer, componentRequests[name], nowMs), issuer)] as const
    }),
  )
  return {
    ...transient(authority, deps.hosts),
    proxyAuthority: proxyAuthority.trusted,
    accountKey: accountKeys.signing,
    oldAccountKeys: accountKeys.accepted,
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
    proxyAuthority: proxyAuthority.trusted,
    accountKey: deps.platform.crypto.generateKey(),
    oldAccountKeys: [],
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
  authority: authority.trusted,
  signer: authority,
  serving: withChain(authority.issue(servingRequest(hosts)), authority),
  admin: withChain(authority.issue(adminRequest), authority),
})

/** Clients and servers that trust only an earlier authority accept it, too. */
const withChain = ({ certificate, key }: Identity, { chain }: Authority): Identity => ({
  certificate: `${certificate}${chain}`,
  key,
})
