// Compactor: etcd keeps every version until it is told to forget. Each interval one of the API servers on a cluster
// does so, up to where the interval began; who it is they settle with upstream's key, so that both kinds can share one.
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import { Compacted } from '../store.ts'
import { toStoreError } from './etcd-failure.ts'
import type { EtcdMembers } from './etcd-members.ts'
import { compactMethod, txnMethod } from './etcd-messages.ts'

/** Its version counts the intervals, its value is the revision that was compacted. */
const compactionKey = 'compact_rev_key'

const neverAborted = new AbortController().signal

export class Compactor {
  readonly #members: EtcdMembers
  readonly #timer: Timer
  #turn = 0
  /** The revision at the end of the turn before. */
  #revision = 0

  constructor(members: EtcdMembers, clock: Clock, intervalMs: number) {
    this.#members = members
    // A turn that fails, for want of a leader or a connection, is made up for by the next.
    this.#timer = every(clock, intervalMs, () => void this.#takeTurn().catch(() => {}))
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#members.read(compactMethod, { revision }, signal)
    } catch (error) {
      const meaning = toStoreError(error, revision)
      // Somebody else has forgotten as much, or more.
      if (!(meaning instanceof Compacted)) throw meaning
    }
  }

  close(): void {
    this.#timer.cancel()
  }

  async #takeTurn(): Promise<void> {
    const { succeeded, header, responses } = await this.#members.write(
      txnMethod,
      {
        compare: [{ target: 'VERSION', key: compactionKey, version: this.#turn }],
        success: [{ requestPut: { key: compactionKey, value: new TextEncoder().encode(String(this.#revision)) } }],
        failure: [{ requestRange: { key: compactionKey } }],
      },
      neverAborted,
    )
    const oldest = this.#revision
    this.#revision = header?.revision ?? 0
    if (!succeeded) this.#turn = responses[0]?.responseRange?.kvs[0]?.version ?? 0
    else {
      this.#turn++
      if (oldest > 0) await this.compact(oldest, neverAborted)
    }
  }
}
