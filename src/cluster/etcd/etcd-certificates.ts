// The certificates of the members of etcd, which have an authority of their own. The files have kubeadm's names.
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { IdentityRequest } from '../../pki/authority.ts'
import type { Platform } from '../../platform/platform.ts'
import { PkiDirectory } from '../certificates/pki-directory.ts'

/** The authority, below `pki/`: its key makes any machine a member. */
export const etcdAuthorityFiles = ['etcd/ca.crt', 'etcd/ca.key'] as const

/** Files that each machine issues, below `pki/`. */
export const etcdIssuedFiles = ['etcd/server', 'etcd/peer', 'apiserver-etcd-client'].flatMap((name) => [
  `${name}.crt`,
  `${name}.key`,
])

export interface EtcdCertificateDeps {
  readonly platform: Platform
  readonly clock: Clock
  readonly random: Random
  readonly isUnfinished: boolean
}

/** Creates what is missing or due for renewal. `etcd` reads its certificates again for each connection. */
export async function etcdCertificates(
  directory: string,
  { address, name }: { readonly address: string; readonly name: string },
  { platform, clock, random, isUnfinished }: EtcdCertificateDeps,
): Promise<void> {
  await platform.files.makeDirectory(`${directory}/etcd`)
  const store = new PkiDirectory(directory, { platform, isUnfinished })
  const authority = await store.authority('etcd/ca', 'etcd-ca', { clock, random, crypto: platform.crypto })
  const subject = { commonName: name, organizations: [] }
  // Members check both uses, because a server connects to itself.
  const member: IdentityRequest = {
    subject,
    uses: ['server', 'client'],
    dnsNames: ['localhost'],
    addresses: [...new Set([address, '127.0.0.1', '::1'])],
  }
  const nowMs = clock.nowMs()
  await store.identity('etcd/server', authority, member, nowMs)
  await store.identity('etcd/peer', authority, member, nowMs)
  const client: IdentityRequest = {
    subject: { commonName: 'kube-apiserver-etcd-client', organizations: [] },
    uses: ['client'],
  }
  await store.identity('apiserver-etcd-client', authority, client, nowMs)
}

/** The files with which the API server is a client of etcd. */
export const etcdClientPaths = (pki: string) => ({
  authority: `${pki}/etcd/ca.crt`,
  certificate: `${pki}/apiserver-etcd-client.crt`,
  key: `${pki}/apiserver-etcd-client.key`,
})
