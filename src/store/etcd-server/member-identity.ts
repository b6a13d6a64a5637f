// The ids of the cluster and of its only member, derived from the flags as etcd does, so that they survive a restart.
import { createHash } from 'node:crypto'

export interface MemberIdentity {
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  readonly memberId: bigint
  readonly clusterId: bigint
}

export function memberIdentity(
  names: Pick<MemberIdentity, 'name' | 'peerUrls' | 'clientUrls'>,
  clusterToken: string,
): MemberIdentity {
  const memberId = firstOfSha1([...names.peerUrls.toSorted(), clusterToken].join(''))
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, memberId)
  return { ...names, memberId, clusterId: firstOfSha1(bytes) }
}

const firstOfSha1 = (content: string | Uint8Array): bigint =>
  createHash('sha1').update(content).digest().readBigUInt64BE(0)
