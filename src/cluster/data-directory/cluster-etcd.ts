// The etcd of a cluster, as its data directory records it.
import { etcdClientPaths } from '../etcd/etcd-certificates.ts'
import type { Marker } from './directory-marker.ts'
import type { EtcdChoice } from './open-store.ts'

/** Undefined for a cluster that has never used one. */
export function etcdOf(directory: string, { server, etcd }: Marker): EtcdChoice | undefined {
  if (server?.member !== undefined) {
    const { endpoints } = server.member
    return { kind: 'etcd', endpoints, tlsPaths: etcdClientPaths(`${directory}/pki`), isManaged: true }
  }
  return etcd && { kind: 'etcd', endpoints: etcd.endpoints, tlsPaths: etcd.tlsPaths }
}
