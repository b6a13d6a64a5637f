// EtcdMembers: calls to an etcd cluster. One member is used until it fails, then the next. A member without a leader
// rejects calls at once, and the member of a slow call is health-checked, so that no call waits for a response that
// cannot come. A write is repeated only when it certainly was not applied.
import { present } from '../../base/assert.ts'
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import type { Http2Options, Http2Provider } from '../../platform/http/http2-client.ts'
import { GrpcChannel, type GrpcMethod, type Metadata } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import { StoreUnavailable } from '../store.ts'
import { classifyFailure } from './etcd-failure.ts'
import { memberListMethod } from './etcd-admin-messages.ts'
import { statusMethod, type ResponseWithHeader } from './etcd-messages.ts'

export interface EtcdMembersOptions {
  readonly http2: Http2Provider
  readonly clock: Clock
  /** `https://host:port` of each member. */
  readonly endpoints: readonly string[]
  readonly tls?: Http2Options['tls']
  /** How often the endpoints are replaced by those of the voting members, as with AutoSyncInterval of etcd's own client. */
  readonly syncMs?: number
}

/** Makes a member reject calls while it has no leader, and end streams when it loses the leader. */
export const requireLeader: Metadata = { hasleader: 'true' }

const connectMsMax = 2_000
/** A call that takes longer causes a health check of its member. */
const slowMs = 1_000
const healthCheckMsMax = 1_000
const slowCallCheckMs = 250
/** No call takes longer: etcd itself gives up a write after seven seconds. */
const callMsMax = 10_000
/** A page of a range is the largest message; see pageKeys in etcd-store.ts. */
const messageBytesMax = 512 * 1024 * 1024
const neverAborted = new AbortController().signal

interface Member {
  readonly channel: GrpcChannel
  /** Ordered by start time. */
  readonly calls: Set<Call>
  /** The Raft term of the last leader that it reported; a new leader starts a new term. */
  term: number
  isBeingChecked: boolean
}

interface Call {
  readonly sinceMs: number
  readonly term: number
  readonly controller: AbortController
}

export class EtcdMembers {
  readonly #clock: Clock
  readonly #newMember: (endpoint: string) => Member
  readonly #syncTimer: Timer | undefined
  #members: readonly Member[]
  #current = 0
  #slowCallTimer: Timer | undefined
  #closed: Error | undefined

  constructor({ http2, clock, endpoints, tls, syncMs }: EtcdMembersOptions) {
    this.#clock = clock
    this.#newMember = (endpoint) => ({
      channel: new GrpcChannel({
        http2,
        clock,
        endpoint,
        messageBytesMax,
        connectMsMax,
        ...(tls === undefined ? {} : { tls }),
      }),
      calls: new Set(),
      term: 0,
      isBeingChecked: false,
    })
    this.#members = endpoints.map(this.#newMember)
    // Without an answer the endpoints stay as they are.
    if (syncMs !== undefined) this.#syncTimer = every(clock, syncMs, () => void this.#sync().catch(() => {}))
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ channel }) => channel.endpoint)
  }

  /** The member that is currently used. */
  get channel(): GrpcChannel {
    return this.#member.channel
  }

  /** Switches to the next member, unless another one is already used. */
  switchFrom(channel: GrpcChannel): void {
    if (this.#member.channel === channel) this.#current = (this.#current + 1) % this.#members.length
  }

  /** For reads and idempotent calls. */
  read<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    return this.#call(method, request, signal, true)
  }

  /** Rejects with StoreUnavailable when the write may or may not have been applied. */
  write<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    return this.#call(method, request, signal, false)
  }

  close(reason: Error): void {
    this.#closed ??= reason
    this.#slowCallTimer?.cancel()
    this.#syncTimer?.cancel()
    for (const { channel } of this.#members) channel.close()
  }

  get #member(): Member {
    return present(this.#members[this.#current], 'a cluster has members')
  }

  async #sync(): Promise<void> {
    const { members } = await this.read(memberListMethod, { linearizable: true }, neverAborted)
    const endpoints = members.filter(({ isLearner }) => !isLearner).flatMap(({ clientUrls }) => clientUrls)
    // A member that has not started has no address yet.
    if (endpoints.length === 0 || this.#closed !== undefined) return
    const used = this.#member
    const kept = this.#members.filter(({ channel }) => endpoints.includes(channel.endpoint))
    const added = endpoints.filter((endpoint) => !kept.some(({ channel }) => channel.endpoint === endpoint))
    const removed = this.#members.filter((member) => !kept.includes(member))
    this.#members = [...kept, ...added.map(this.#newMember)]
    this.#current = Math.max(0, this.#members.indexOf(used))
    for (const { channel } of removed) channel.close()
  }

  async #call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
    isIdempotent: boolean,
  ): Promise<Proto<A>> {
    const failures: GrpcError[] = []
    for (;;) {
      if (this.#closed !== undefined) throw this.#closed
      const member = this.#member
      try {
        return await this.#callMember(member, method, request, signal)
      } catch (error) {
        if (this.#closed !== undefined) throw this.#closed
        if (!(error instanceof GrpcError)) throw error
        const { kind } = classifyFailure(error)
        if (kind === 'final') throw error
        this.switchFrom(member.channel)
        failures.push(error)
        const isFinal = failures.length >= this.#members.length || (kind === 'ambiguous' && !isIdempotent)
        if (isFinal) throw unavailable(failures)
      }
    }
  }

  async #callMember<Q extends Message, A extends Message>(
    member: Member,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    signal.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const call = { sinceMs: this.#clock.monotonicMs(), term: member.term, controller }
    member.calls.add(call)
    this.#slowCallTimer ??= every(this.#clock, slowCallCheckMs, () => this.#checkSlowCalls())
    try {
      const response = await member.channel.unary(method, request, requireLeader, controller.signal)
      member.term = termIn(response) ?? member.term
      return response
    } finally {
      signal.removeEventListener('abort', abort)
      member.calls.delete(call)
    }
  }

  #checkSlowCalls(): void {
    const nowMs = this.#clock.monotonicMs()
    let isIdle = true
    for (const member of this.#members) {
      const [oldest] = member.calls
      if (oldest === undefined) continue
      isIdle = false
      if (nowMs - oldest.sinceMs > callMsMax)
        oldest.controller.abort(timedOut(member, `no response within ${callMsMax} ms`))
      else if (nowMs - oldest.sinceMs > slowMs && !member.isBeingChecked) void this.#checkHealth(member)
    }
    if (!isIdle) return
    this.#slowCallTimer?.cancel()
    this.#slowCallTimer = undefined
  }

  /**
   * Fails all calls of a member that does not respond or has no leader, and the calls that were sent to a previous
   * leader.
   */
  async #checkHealth(member: Member): Promise<void> {
    member.isBeingChecked = true
    const controller = new AbortController()
    const timer = this.#clock.after(healthCheckMsMax, () => controller.abort(timedOut(member, 'it does not respond')))
    try {
      const { header } = await member.channel.unary(statusMethod, {}, requireLeader, controller.signal)
      member.term = header?.raftTerm ?? member.term
      const orphaned = [...member.calls].filter(({ term }) => term !== 0 && term < member.term)
      for (const call of orphaned) call.controller.abort(timedOut(member, 'no response: the leader changed'))
    } catch (error) {
      for (const call of member.calls) call.controller.abort(toTimeout(member, error))
    } finally {
      timer.cancel()
      member.isBeingChecked = false
    }
  }
}

const termIn = (response: Partial<ResponseWithHeader>): number | undefined => response.header?.raftTerm

const timedOut = ({ channel }: Member, details: string) => new GrpcError(channel.endpoint, 'DEADLINE_EXCEEDED', details)

/** The earlier calls may have been applied, whatever this error is. */
const toTimeout = ({ channel }: Member, error: unknown) =>
  new GrpcError(channel.endpoint, 'DEADLINE_EXCEEDED', `no response: ${(error as Error).message}`, false, error)

function unavailable(failures: readonly GrpcError[]): StoreUnavailable {
  const details = failures.map(({ message }) => message).join('; ')
  return new StoreUnavailable(`${summaryOf(failures)} (${details})`, { cause: failures.at(-1) })
}

function summaryOf(failures: readonly GrpcError[]): string {
  if (failures.some(({ details }) => details.includes('no leader')))
    return 'etcd has no leader: its quorum is lost, or a new leader is being elected'
  return failures.at(-1)?.code === 'DEADLINE_EXCEEDED' ? 'etcd did not respond' : 'etcd cannot be reached'
}
