// PeerFlowRecords: readers get the flow records of all API servers as one. While someone reads it, this server follows the records of the
// others. When nothing has read it for a while it is dropped, so that it costs nothing.
import { errorText } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Random } from '../../base/random/random.ts'
import { recordNameBytes } from '../../base/observability/span.ts'
import type { FlowReading, FlowRecords } from '../../apiserver/flow-endpoints/flow-records.ts'
import { MergedFlowRecord, type MergedRecordDeps } from './merged-flow-record.ts'
import type { PeerServer, PeerServers } from './peer-servers.ts'

export interface PeerFlowDeps extends Omit<MergedRecordDeps, 'ownName'> {
  readonly peers: Pick<PeerServers, 'list' | 'read'>
  readonly random: Random
}

/** How often servers are looked for, and those that did not answer are asked again. */
const refreshMs = 5_000
/** The record is kept for so long after it was read. */
const unreadMsMax = 60_000

export class PeerFlowRecords implements FlowRecords {
  readonly #deps: PeerFlowDeps
  readonly #ownName: string
  #requested = Promise.withResolvers<void>()
  #reading = Promise.withResolvers<FlowReading>()
  #readAtMs = -Infinity

  constructor(deps: PeerFlowDeps) {
    this.#deps = deps
    this.#ownName = deps.random.bytes(recordNameBytes).toHex()
  }

  read(signal: AbortSignal): Promise<FlowReading> {
    this.#readAtMs = this.#deps.clock.monotonicMs()
    this.#requested.resolve()
    return unlessAborted(this.#reading.promise, signal)
  }

  /** Answers readers until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await unlessAborted(this.#requested.promise, signal)
      await this.#serve(signal)
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { own, clock } = this.#deps
    const found = await this.#list(signal)
    if (typeof found === 'string' || found.length === 0) {
      const missing = typeof found === 'string' ? [`other API servers: ${found}`] : []
      this.#reading.resolve({ flow: own, missing })
      await clock.sleep(refreshMs, signal)
      // By now a server may have joined.
      return this.#forget()
    }
    await using tasks = new TaskGroup({ signal })
    const merged = new MergedFlowRecord({ ...this.#deps, ownName: this.#ownName }, found.length + 1, tasks)
    await merged.start(found)
    this.#reading.resolve(merged)
    do {
      await clock.sleep(refreshMs, signal)
      const peers = await this.#list(signal)
      if (typeof peers !== 'string') merged.update(peers)
    } while (merged.flow.isFollowed || clock.monotonicMs() - this.#readAtMs < unreadMsMax)
    this.#forget()
  }

  #forget(): void {
    this.#requested = Promise.withResolvers()
    this.#reading = Promise.withResolvers()
  }

  /** The other servers, or why they are not known. */
  async #list(signal: AbortSignal): Promise<readonly PeerServer[] | string> {
    try {
      return await this.#deps.peers.list(signal)
    } catch (error) {
      signal.throwIfAborted()
      return errorText(error)
    }
  }
}
