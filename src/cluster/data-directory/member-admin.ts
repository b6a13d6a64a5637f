// memberAdmin: administrates the etcd of a control plane with the certificates of a server's data directory.
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import { etcdClientPaths } from '../etcd/etcd-certificates.ts'
import { readMarker, type MemberUse } from './directory-marker.ts'
import { readTls } from './open-store.ts'

/** The member of etcd on this machine. Throws where there is none. */
export async function ownMember(directory: string): Promise<MemberUse> {
  const marker = await readMarker(directory)
  if (marker?.server?.member !== undefined) return marker.server.member
  throw new Error(
    marker?.server === undefined
      ? `there is no server in ${directory}; run this on a server ("coxswain server"), or name its directory with --data-dir`
      : `the servers of ${directory} use an etcd that is run by others (${marker.etcd?.endpoints.join(', ')})`,
  )
}

export const memberAdmin = async (directory: string, endpoints: readonly string[]): Promise<EtcdAdmin> =>
  new EtcdAdmin({
    http2: nodePlatform.http2,
    clock: realClock,
    endpoints,
    tls: await readTls(etcdClientPaths(`${directory}/pki`)),
  })
