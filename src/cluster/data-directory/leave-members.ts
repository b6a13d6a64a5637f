// leaveMembers: removes the member of etcd of this machine from its cluster, before its data is deleted. The member is started
// for that, because two members can remove one of them only together.
import { existsSync } from 'node:fs'
import { mustParseIp, type IpAddress } from '../../base/net/ip-address.ts'
import { errorText, silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import { findEtcd } from '../etcd/etcd-executable.ts'
import { clientUrlOf, dataPath, EtcdMember, endLeftoverEtcd, peerUrlOf } from '../etcd/etcd-member.ts'
import { parseMemberName } from '../etcd/initial-cluster.ts'
import type { MemberUse } from './directory-marker.ts'
import { memberAdmin } from './member-admin.ts'

export type LeaveOutcome =
  | { readonly kind: 'left'; readonly name: string }
  /** It was the only one, so the cluster ends with it. */
  | { readonly kind: 'last'; readonly name: string }
  /** The others still count on it. */
  | { readonly kind: 'kept'; readonly name: string; readonly why: string }

const leaveMsMax = 30_000
const pollMs = 200

export async function leaveMembers(
  directory: string,
  { name, address: text, endpoints }: MemberUse,
  signal: AbortSignal,
): Promise<LeaveOutcome> {
  const { files, processes } = nodePlatform
  const etcd = `${directory}/etcd`
  await endLeftoverEtcd(etcd, { files, processes, clock: realClock }, signal)
  const address = mustParseIp(text)
  if (endpoints.every((endpoint) => endpoint === clientUrlOf(address))) return { kind: 'last', name }
  try {
    await using _member = existsSync(`${dataPath(etcd)}/member`)
      ? await startAgain(directory, name, address, signal)
      : undefined
    // The others first: they also answer if this member was removed before.
    const own = clientUrlOf(address)
    using admin = await memberAdmin(directory, [...endpoints.filter((endpoint) => endpoint !== own), own])
    return (await removeOwn(admin, peerUrlOf(address), signal)) ? { kind: 'left', name } : { kind: 'last', name }
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'kept', name, why: errorText(error) }
  }
}

async function startAgain(directory: string, text: string, address: IpAddress, signal: AbortSignal) {
  const { files, processes } = nodePlatform
  const executable = await findEtcd(processes, signal)
  const name = parseMemberName(text)
  const initial = { state: 'existing', members: [{ name, peerUrl: peerUrlOf(address) }] } as const
  return EtcdMember.start(
    { executable, directory: `${directory}/etcd`, pki: `${directory}/pki`, name, address, initial },
    { files, processes, clock: realClock, log: silentLog },
    signal,
  )
}

/** False when there is no other. A member that was removed before has left, too. */
async function removeOwn(admin: EtcdAdmin, peerUrl: string, signal: AbortSignal): Promise<boolean> {
  const untilMs = realClock.monotonicMs() + leaveMsMax
  for (;;)
    try {
      const members = await admin.members(signal)
      const own = members.find(({ peerUrls }) => peerUrls.includes(peerUrl))
      if (own === undefined) return true
      if (members.length === 1) return false
      await admin.remove(own.id, signal)
      return true
    } catch (error) {
      signal.throwIfAborted()
      if (realClock.monotonicMs() > untilMs) throw error
      await realClock.sleep(pollMs, signal)
    }
}
