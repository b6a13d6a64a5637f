// EtcdAdmin: changes the members of an etcd cluster and maintains their files. A call about the cluster goes to the first
// member that answers it; a call about one member goes to that member only.
import type { Clock } from '../../base/time/clock.ts'
import type { Http2Options, Http2Provider } from '../../platform/http/http2-client.ts'
import { GrpcChannel, noMetadata, type GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import {
  alarmMethod,
  defragmentMethod,
  memberAddMethod,
  memberListMethod,
  memberPromoteMethod,
  memberRemoveMethod,
  type EtcdAlarm,
  type EtcdMember,
} from './etcd-admin-messages.ts'
import { classifyFailure } from './etcd-failure.ts'
import { statusMethod, type EtcdStatus } from './etcd-messages.ts'
import { unavailableText, type EndpointFailure } from './unavailable-text.ts'

export interface EtcdAdminOptions {
  readonly http2: Http2Provider
  readonly clock: Clock
  /** `https://host:port` of members, in the order in which they are asked. */
  readonly endpoints: readonly string[]
  readonly tls?: Http2Options['tls']
}

const connectMsMax = 2_000
/** A member gives up a change of the members after seven seconds. */
const callMsMax = 10_000
/** Rewriting a file of 8 GB takes a minute on a slow disk. */
const defragmentMsMax = 300_000

export class EtcdAdmin implements Disposable {
  readonly #options: EtcdAdminOptions
  readonly #channels = new Map<string, GrpcChannel>()

  constructor(options: EtcdAdminOptions) {
    this.#options = options
  }

  /** Confirmed by a quorum. Members of etcd 3.4 answer with what they know. */
  async members(signal: AbortSignal): Promise<readonly EtcdMember[]> {
    return (await this.#call(memberListMethod, { linearizable: true }, signal)).members
  }

  /** Adds a member that does not vote yet; returns it. */
  async addLearner(peerUrl: string, signal: AbortSignal): Promise<EtcdMember> {
    const { member } = await this.#call(memberAddMethod, { peerUrls: [peerUrl], isLearner: true }, signal)
    if (member === undefined) throw new Error('etcd has added no member')
    return member
  }

  /** Makes a learner a voting member. Rejects while it is behind the leader. */
  async promote(id: bigint, signal: AbortSignal): Promise<void> {
    await this.#call(memberPromoteMethod, { id }, signal)
  }

  async remove(id: bigint, signal: AbortSignal): Promise<void> {
    await this.#call(memberRemoveMethod, { id }, signal)
  }

  async alarms(signal: AbortSignal): Promise<readonly EtcdAlarm[]> {
    return (await this.#call(alarmMethod, { action: 'GET' }, signal)).alarms
  }

  async clearAlarm({ memberId, alarm }: EtcdAlarm, signal: AbortSignal): Promise<void> {
    await this.#call(alarmMethod, { action: 'DEACTIVATE', memberId, alarm }, signal)
  }

  /** The state of the member at this endpoint. */
  status(endpoint: string, signal: AbortSignal): Promise<EtcdStatus> {
    return this.#callAt(endpoint, statusMethod, {}, callMsMax, signal)
  }

  /** Returns free space of the file of this member to the file system. The member answers nothing else meanwhile. */
  async defragment(endpoint: string, signal: AbortSignal): Promise<void> {
    await this.#callAt(endpoint, defragmentMethod, {}, defragmentMsMax, signal)
  }

  [Symbol.dispose](): void {
    for (const channel of this.#channels.values()) channel.close()
    this.#channels.clear()
  }

  async #call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const failures: EndpointFailure[] = []
    for (const endpoint of this.#options.endpoints)
      try {
        return await this.#callAt(endpoint, method, request, callMsMax, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof GrpcError) || classifyFailure(error).kind === 'final') throw error
        failures.push({ host: new URL(endpoint).host, error })
      }
    throw new Error(unavailableText(failures))
  }

  async #callAt<Q extends Message, A extends Message>(
    endpoint: string,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    msMax: number,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const { clock } = this.#options
    const deadline = new AbortController()
    const late = new GrpcError(endpoint, 'DEADLINE_EXCEEDED', `no response within ${msMax / 1000} s`)
    const timer = clock.after(msMax, () => deadline.abort(late))
    try {
      const either = AbortSignal.any([signal, deadline.signal])
      return await clock.outside(this.#channelTo(endpoint).unary(method, request, noMetadata, either))
    } finally {
      timer.cancel()
    }
  }

  #channelTo(endpoint: string): GrpcChannel {
    const known = this.#channels.get(endpoint)
    if (known !== undefined) return known
    const { http2, clock, tls } = this.#options
    const channel = new GrpcChannel({ http2, clock, endpoint, connectMsMax, ...(tls === undefined ? {} : { tls }) })
    this.#channels.set(endpoint, channel)
    return channel
  }
}
