import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Clock } from '../../base/time/clock.ts'
import { addressSeconds, type AnnouncedAddresses } from './announced-addresses.ts'

/** A machine whose addresses expire in the time of the clock. */
export class SimulatedAnnouncedAddresses implements AnnouncedAddresses {
  /** Addresses that cannot be set, and why. */
  readonly problems = new Map<string, string>()
  readonly #clock: Clock
  readonly #endsMs = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The addresses for which the machine responds now. */
  get current(): readonly string[] {
    const nowMs = this.#clock.monotonicMs()
    return [...this.#endsMs].filter(([, endMs]) => endMs > nowMs).map(([address]) => address)
  }

  set(addresses: readonly IpAddress[]): Promise<ReadonlyMap<IpAddress, string>> {
    const endMs = this.#clock.monotonicMs() + addressSeconds * 1_000
    this.#endsMs.clear()
    for (const address of addresses) if (!this.problems.has(address)) this.#endsMs.set(address, endMs)
    return Promise.resolve(
      new Map(
        addresses.flatMap((each) => [[each, this.problems.get(each) ?? ''] as const]).filter(([, why]) => why !== ''),
      ),
    )
  }
}
