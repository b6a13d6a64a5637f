// MergedFlowRecord: a record of the events of all API servers. Events are linked across servers by their spans and by revisions.
import { errorText } from '../../base/observability/log.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Clock } from '../../base/time/clock.ts'
import { recordNameBytes } from '../../base/observability/span.ts'
import { flowEventsPath, ownRecordParameter } from '../../api/coxswain/v1/flow-protocol.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { mergePast, type Pieces } from './merge-past.ts'
import type { PeerServer, PeerServers } from './peer-servers.ts'
import { ownPieces, peerPieces } from './record-pieces.ts'

export interface MergedRecordDeps {
  readonly own: FlowRecorder
  /** The name of the own record for other processes. */
  readonly ownName: string
  /** As many events of each server are recorded. */
  readonly events: number
  readonly peers: Pick<PeerServers, 'read'>
  readonly clock: Clock
  readonly crypto: Pick<CryptoProvider, 'sha256'>
}

const target = `${flowEventsPath}?follow=true&${ownRecordParameter}=true`
/** Records of more servers share the space of so many. */
const sharesMax = 4

/** The record of another server, while it is read. */
interface PeerRecord {
  readonly peer: PeerServer
  readonly pieces: Pieces
  readonly ended: AbortController
}

export class MergedFlowRecord {
  readonly flow: FlowRecorder
  readonly #deps: MergedRecordDeps
  readonly #tasks: TaskGroup
  /** By holder. */
  readonly #followed = new Map<string, PeerServer>()
  readonly #missing = new Map<string, string>()

  /** The tasks follow the records, until they are stopped. */
  constructor(deps: MergedRecordDeps, servers: number, tasks: TaskGroup) {
    this.#deps = deps
    this.#tasks = tasks
    this.flow = new FlowRecorder(deps.clock, deps.events * Math.min(servers, sharesMax))
  }

  /** The servers whose records are missing, with the reasons. */
  get missing(): readonly string[] {
    return Array.from(this.#missing, ([name, reason]) => `${name}: ${reason}`)
  }

  /** Records the past of all servers in order of time. */
  async start(peers: readonly PeerServer[]): Promise<void> {
    const { own, ownName, clock } = this.#deps
    const { signal } = this.#tasks
    const ownRecord = ownPieces(own, ownName, clock, signal)
    const records = this.#reachable(peers).map((peer) => this.#open(peer))
    const all = [ownRecord, ...records.map(({ pieces }) => pieces)]
    const failed = await mergePast(all, (event) => this.flow.recordOfPeer(event), clock, signal)
    this.#tasks.start('own record', () => this.#record(ownRecord))
    for (const record of records) {
      if (!failed.has(record.pieces)) this.#follow(record)
      else this.#fail(record, failed.get(record.pieces))
    }
  }

  /** Follows those that are not followed yet, or no longer. What they recorded meanwhile comes late. */
  update(peers: readonly PeerServer[]): void {
    const names = new Set(peers.map(({ name }) => name))
    for (const name of this.#missing.keys()) if (!names.has(name)) this.#missing.delete(name)
    for (const peer of this.#reachable(peers)) if (!this.#followed.has(peer.holder)) this.#follow(this.#open(peer))
  }

  #reachable(peers: readonly PeerServer[]): readonly PeerServer[] {
    return peers.filter(({ name, origin }) => {
      if (origin === undefined) this.#missing.set(name, 'it has no address that other machines can reach')
      return origin !== undefined
    })
  }

  #open(peer: PeerServer): PeerRecord {
    const { peers, crypto } = this.#deps
    const ended = new AbortController()
    const text = peers.read(peer, target, AbortSignal.any([this.#tasks.signal, ended.signal]))
    // Whenever the same process is asked, the record has the same name, so that each event is recorded once.
    const name = crypto.sha256(peer.holder).subarray(0, recordNameBytes).toHex()
    return { peer, pieces: peerPieces(text, name), ended }
  }

  #follow(record: PeerRecord): void {
    const { name, holder } = record.peer
    this.#followed.set(holder, record.peer)
    this.#tasks.start(name, async (signal) => {
      try {
        await this.#record(record.pieces, () => this.#missing.delete(name))
        this.#fail(record, new Error('it has closed the connection'))
      } catch (error) {
        signal.throwIfAborted()
        this.#fail(record, error)
      } finally {
        this.#followed.delete(holder)
      }
    })
  }

  #fail({ peer, ended }: PeerRecord, error: unknown): void {
    ended.abort()
    this.#missing.set(peer.name, errorText(error))
  }

  async #record(pieces: Pieces, onPiece = () => {}): Promise<void> {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done === true) return
      for (const event of value.events) this.flow.recordOfPeer(event)
      onPiece()
    }
  }
}
