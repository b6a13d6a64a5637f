// How a machine becomes a member of a running etcd: it is added as a learner, starts, and is promoted when it has caught up.
// Each step is decided from the list of the members, so that a start that was interrupted continues.
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'
import type { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import { parseMemberName, parsePeerUrl, type InitialCluster, type MemberName, type PeerUrl } from './initial-cluster.ts'

export interface OwnMember {
  readonly name: MemberName
  readonly peerUrl: PeerUrl
}

export type JoinStep =
  /** This machine is a member that has not started. */
  | { readonly kind: 'start'; readonly initial: InitialCluster }
  /** A member at this address has started before, and its data is not on this machine. */
  | { readonly kind: 'replace'; readonly lost: EtcdMember }
  | { readonly kind: 'add' }
  /** Members are added one after the other. */
  | { readonly kind: 'wait'; readonly why: string }

/** For a machine without data of etcd. */
export function nextJoinStep(members: readonly EtcdMember[], { name, peerUrl }: OwnMember): JoinStep {
  const own = members.find(({ peerUrls }) => peerUrls.includes(peerUrl))
  if (own !== undefined && own.name !== '') return { kind: 'replace', lost: own }
  const pending = members.find((member) => member !== own && (member.isLearner || member.name === ''))
  if (pending !== undefined)
    return { kind: 'wait', why: `the member ${pending.name || pending.peerUrls.join(', ')} is being added` }
  if (own === undefined) return { kind: 'add' }
  const initial = members.flatMap((member) =>
    member.peerUrls.map((url) => ({
      name: member === own ? name : parseMemberName(member.name),
      peerUrl: parsePeerUrl(url),
    })),
  )
  return { kind: 'start', initial: { state: 'existing', members: initial } }
}

export interface JoinDeps {
  readonly admin: Pick<EtcdAdmin, 'members' | 'addLearner' | 'promote' | 'remove' | 'status'>
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

const retryMs = 500
/** etcd adds no member while others are not healthy. */
const addMsMax = 120_000
/** A waiting machine says so at this interval. */
const reportMs = 10_000

/** Adds this machine; returns what its member is started with. */
export async function addMember(own: OwnMember, { admin, clock, log }: JoinDeps, signal: AbortSignal) {
  const report = reporter(clock, log)
  const untilMs = clock.monotonicMs() + addMsMax
  for (;;) {
    const step = nextJoinStep(await admin.members(signal), own)
    switch (step.kind) {
      case 'start':
        return step.initial
      case 'add':
        await admin.addLearner(own.peerUrl, signal).catch(async (error: unknown) => {
          // Another machine was faster, a member was added moments ago, or this request had succeeded before.
          signal.throwIfAborted()
          if (clock.monotonicMs() > untilMs) throw error
          report('this machine cannot be added to etcd yet', errorText(error))
          await clock.sleep(retryMs, signal)
        })
        break
      case 'replace':
        if (await runs(step.lost, admin, signal))
          throw new Error(
            `the member ${step.lost.name} of etcd runs at ${own.peerUrl}, the address of this machine; is another server running here?`,
          )
        log.warn('a member of etcd that was lost is replaced by this machine', { lost: step.lost.name })
        await admin.remove(step.lost.id, signal)
        break
      case 'wait':
        report('waiting to be added to etcd', step.why)
        await clock.sleep(retryMs, signal)
        break
      default:
        return step satisfies never
    }
  }
}

/** Makes a member vote once it has caught up with the leader. Returns at once if it votes already. */
export async function promoteMember(peerUrl: PeerUrl, { admin, clock, log }: JoinDeps, signal: AbortSignal) {
  const report = reporter(clock, log)
  for (;;) {
    const own = (await admin.members(signal)).find(({ peerUrls }) => peerUrls.includes(peerUrl))
    if (own === undefined) throw new Error(removedText)
    if (!own.isLearner) return
    try {
      await admin.promote(own.id, signal)
    } catch (error) {
      signal.throwIfAborted()
      report('the member of this machine does not vote yet', errorText(error))
      await clock.sleep(retryMs, signal)
    }
  }
}

export const removedText =
  'the member of etcd of this machine was removed from the cluster; to join again: coxswain reset --yes, then coxswain server --join'

async function runs({ clientUrls }: EtcdMember, admin: JoinDeps['admin'], signal: AbortSignal): Promise<boolean> {
  for (const url of clientUrls) if (await admin.status(url, signal).then(always, () => false)) return true
  signal.throwIfAborted()
  return false
}

const always = () => true

/** Logs a message at most once in an interval. */
function reporter(clock: Clock, log: JoinDeps['log']) {
  let nextMs = clock.monotonicMs() + reportMs
  return (message: string, why: string) => {
    if (clock.monotonicMs() < nextMs) return
    nextMs = clock.monotonicMs() + reportMs
    log.info(message, { why })
  }
}
