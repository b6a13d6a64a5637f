// Compactor: etcd keeps every version until it is compacted. In each interval one of the API servers compacts up to the
// start of the interval. They elect it with the key that kube-apiserver uses, so both can share one cluster.
import { every, type Clock, type Timer } from '../../base/time/clock.ts'
import { Compacted } from '../store.ts'
import { toStoreError } from './etcd-failure.ts'
import type { EtcdMembers } from './etcd-members.ts'
import { compactMethod, txnMethod } from './etcd-messages.ts'

/** Its version counts the intervals; its value is the compacted revision. */
const compactionKey = 'compact_rev_key'

const neverAborted = new AbortController().signal

export class Compactor {
  readonly #members: EtcdMembers
  readonly #timer: Timer
  #turn = 0
  /** The revision at the end of the previous interval. */
  #revision = 0

  constructor(members: EtcdMembers, clock: Clock, intervalMs: number) {
    this.#members = members
    // An interval that fails, without a leader or a connection, is caught up by the next.
    this.#timer = every(clock, intervalMs, () => void this.#takeTurn().catch(() => {}))
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#members.read(compactMethod, { revision }, signal)
    } catch (error) {
      const meaning = toStoreError(error, revision)
      // Another server has compacted as far or further.
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
