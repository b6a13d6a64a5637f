// What is known about each member of etcd: its role, its file and its alarms.
import { errorText } from '../../base/observability/log.ts'
import type { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import type { EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'

export interface MemberReport {
  readonly id: bigint
  readonly name: string
  /** The client URL; empty until it has started. */
  readonly endpoint: string
  readonly state: MemberState
  readonly alarms: readonly string[]
}

export type MemberState =
  | {
      readonly kind: 'running'
      readonly role: 'leader' | 'follower' | 'learner'
      readonly version: string
      readonly bytes: number
      readonly bytesInUse: number
    }
  /** It was added, and has never started. */
  | { readonly kind: 'not started' }
  | { readonly kind: 'not responding'; readonly why: string }

export type ReportingAdmin = Pick<EtcdAdmin, 'members' | 'alarms' | 'status'>

/** In the order of their names. */
export async function memberReports(admin: ReportingAdmin, signal: AbortSignal): Promise<readonly MemberReport[]> {
  const [members, alarms] = await Promise.all([admin.members(signal), admin.alarms(signal)])
  const reports = members.map(async (member) => ({
    id: member.id,
    name: member.name || member.peerUrls.join(', '),
    endpoint: member.clientUrls[0] ?? '',
    state: await stateOf(member, admin, signal),
    alarms: alarms.filter(({ memberId }) => memberId === member.id).map(({ alarm }) => alarm),
  }))
  return (await Promise.all(reports)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function stateOf(
  { id, clientUrls: [endpoint] }: EtcdMember,
  admin: ReportingAdmin,
  signal: AbortSignal,
): Promise<MemberState> {
  if (endpoint === undefined) return { kind: 'not started' }
  try {
    const { version, dbSize, dbSizeInUse, isLearner, leader } = await admin.status(endpoint, signal)
    const role = isLearner ? 'learner' : leader === id ? 'leader' : 'follower'
    return { kind: 'running', role, version, bytes: dbSize, bytesInUse: dbSizeInUse }
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'not responding', why: errorText(error) }
  }
}

/** Followers first: the leader hands over at most once. */
export const defragmentationOrder = (reports: readonly MemberReport[]): readonly MemberReport[] => {
  const running = reports.filter(({ state }) => state.kind === 'running')
  const isLeader = ({ state }: MemberReport) => state.kind === 'running' && state.role === 'leader'
  return [...running.filter((each) => !isLeader(each)), ...running.filter(isLeader)]
}
