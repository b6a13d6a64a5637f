// Members: the endpoints of an etcd cluster behind one call. One member is asked until it fails; then the next. A member
// without a leader says so at once, and a call that waits long has its member examined, so that nobody waits for an
// answer that cannot come. A write is made again only when it certainly was not done.
import { present } from '../../base/assert.ts'
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import type { Http2Options, Http2Provider } from '../../platform/http/http2-client.ts'
import { GrpcChannel, type GrpcMethod, type Metadata } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import { StoreUnavailable } from '../store.ts'
import { classifyFailure } from './etcd-failure.ts'
import { statusMethod, type ResponseWithHeader } from './etcd-messages.ts'

export interface EtcdMembersOptions {
  readonly http2: Http2Provider
  readonly clock: Clock
  /** `https://host:port` of each member. */
  readonly endpoints: readonly string[]
  readonly tls?: Http2Options['tls']
}

/** Asks a member to refuse what needs a leader while it knows none, and to end streams when it loses it. */
export const requireLeader: Metadata = { hasleader: 'true' }

const connectMsMax = 2_000
/** A call that waits longer has its member examined, which must answer as quickly. */
const slowMs = 1_000
const healthCheckMsMax = 1_000
const slowCallCheckMs = 250
/** No call waits longer: etcd itself gives a write up after seven seconds. */
const callMsMax = 10_000
/** A page of a range is the largest message; see pageKeys in store.ts. */
const messageBytesMax = 512 * 1024 * 1024

interface Member {
  readonly channel: GrpcChannel
  /** In the order of their beginning. */
  readonly calls: Set<Call>
  /** The term of the leader that it last knew: a new leader begins a new one. */
  term: number
  examining: boolean
}

interface Call {
  readonly sinceMs: number
  readonly term: number
  readonly controller: AbortController
}

export class EtcdMembers {
  readonly #clock: Clock
  readonly #members: readonly Member[]
  #current = 0
  #slowCallTimer: Timer | undefined
  #closed: Error | undefined

  constructor({ http2, clock, endpoints, tls }: EtcdMembersOptions) {
    this.#clock = clock
    this.#members = endpoints.map((endpoint) => ({
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
      examining: false,
    }))
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ channel }) => channel.endpoint)
  }

  /** The member that is asked at present. */
  get channel(): GrpcChannel {
    return this.#member.channel
  }

  /** Asks another member from now on, unless that has happened already. */
  switchFrom(channel: GrpcChannel): void {
    if (this.#member.channel === channel) this.#current = (this.#current + 1) % this.#members.length
  }

  /** For what only reads, or may be done twice. */
  read<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    return this.#call(method, request, signal, true)
  }

  /** Rejects with StoreUnavailable when it may or may not have been done. */
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
    for (const { channel } of this.#members) channel.close()
  }

  get #member(): Member {
    return present(this.#members[this.#current], 'there is a member')
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
        if (kind === 'answer') throw error
        this.switchFrom(member.channel)
        failures.push(error)
        const isLast = failures.length === this.#members.length || (kind === 'unknown' && !isIdempotent)
        if (isLast) throw unavailable(failures)
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
        oldest.controller.abort(timedOut(member, `no answer within ${callMsMax} ms`))
      else if (nowMs - oldest.sinceMs > slowMs && !member.examining) void this.#checkHealth(member)
    }
    if (!isIdle) return
    this.#slowCallTimer?.cancel()
    this.#slowCallTimer = undefined
  }

  /** A member that does not answer, or has no leader, answers none of its calls; nor those meant for a leader before. */
  async #checkHealth(member: Member): Promise<void> {
    member.examining = true
    const controller = new AbortController()
    const timer = this.#clock.after(healthCheckMsMax, () => controller.abort(timedOut(member, 'it does not answer')))
    try {
      const { header } = await member.channel.unary(statusMethod, {}, requireLeader, controller.signal)
      member.term = header?.raftTerm ?? member.term
      const lost = [...member.calls].filter(({ term }) => term !== 0 && term < member.term)
      for (const call of lost) call.controller.abort(timedOut(member, 'no answer: the leader changed'))
    } catch (error) {
      for (const call of member.calls) call.controller.abort(toTimeout(member, error))
    } finally {
      timer.cancel()
      member.examining = false
    }
  }
}

const termIn = (response: Partial<ResponseWithHeader>): number | undefined => response.header?.raftTerm

const timedOut = ({ channel }: Member, details: string) => new GrpcError(channel.endpoint, 'DEADLINE_EXCEEDED', details)

/** What was asked before may have been done, whatever the member says now. */
const toTimeout = ({ channel }: Member, error: unknown) =>
  new GrpcError(channel.endpoint, 'DEADLINE_EXCEEDED', `no answer: ${(error as Error).message}`, false, error)

function unavailable(failures: readonly GrpcError[]): StoreUnavailable {
  const whole = failures.map(({ message }) => message).join('; ')
  return new StoreUnavailable(`${situationOf(failures)} (${whole})`, { cause: failures.at(-1) })
}

function situationOf(failures: readonly GrpcError[]): string {
  if (failures.some(({ details }) => details.includes('no leader')))
    return 'etcd has no leader: its quorum is lost, or a new leader is being elected'
  return failures.at(-1)?.code === 'DEADLINE_EXCEEDED' ? 'etcd did not answer' : 'etcd cannot be reached'
}
