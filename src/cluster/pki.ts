// The cluster's certificates: made at the first start, kept in the data directory, read back at the next.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { Authority, type AuthorityParts, type Identity } from '../pki/authority.ts'
import type { Platform } from '../platform/platform.ts'

export interface ClusterCertificates {
  readonly authority: string
  readonly serving: Identity
  readonly admin: Identity
}

const authorityName = 'kubernetes'

export async function clusterCertificates(
  folder: string,
  platform: Platform,
  clock: Clock,
  random: Random,
): Promise<ClusterCertificates> {
  const parts: AuthorityParts = { clock, random, crypto: platform.crypto }
  const authority = await loadAuthority(folder, platform, parts)
  return { authority: authority.certificate, ...identitiesOf(authority) }
}

/** For a cluster that leaves nothing behind. */
export function temporaryCertificates(platform: Platform, clock: Clock, random: Random): ClusterCertificates {
  const authority = Authority.create(authorityName, { clock, random, crypto: platform.crypto })
  return { authority: authority.certificate, ...identitiesOf(authority) }
}

async function loadAuthority(folder: string, { files }: Platform, parts: AuthorityParts): Promise<Authority> {
  const [certificatePath, keyPath] = [`${folder}/ca.crt`, `${folder}/ca.key`]
  const [certificate, key] = [await files.read(certificatePath), await files.read(keyPath)]
  if (certificate !== undefined && key !== undefined)
    return Authority.load(authorityName, { certificate: text(certificate), key: text(key) }, parts)
  if (certificate !== undefined || key !== undefined)
    throw new Error(`${folder} holds only one of ca.crt and ca.key; restore the other, or remove both`)
  const authority = Authority.create(authorityName, parts)
  await files.makeFolder(folder)
  await files.write(keyPath, authority.identity.key)
  await files.write(certificatePath, authority.certificate)
  return authority
}

// Both are made anew at each start: their keys never lie on the disk, but for the admin's in the kubeconfig.
const identitiesOf = (authority: Authority): Pick<ClusterCertificates, 'serving' | 'admin'> => ({
  serving: authority.issue({
    subject: { commonName: 'kube-apiserver', organizations: [] },
    uses: ['server'],
    dnsNames: [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    addresses: ['127.0.0.1', '::1', '10.96.0.1'],
  }),
  admin: authority.issue({
    subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
    uses: ['client'],
  }),
})

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
