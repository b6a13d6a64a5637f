// AddressIndex: which Services have an address, for PTR records. An address that two slices of a Service contain is
// counted twice, so that it stays listed when one of them drops it.
import type { ServiceRecords } from './service-records.ts'

type Listed = Map<ServiceRecords, number>

export class AddressIndex {
  /** Most addresses belong to one Service and are listed once; these need no map. */
  readonly #listed = new Map<string, ServiceRecords | Listed>()

  get size(): number {
    return this.#listed.size
  }

  of(address: string): readonly ServiceRecords[] {
    const listed = this.#listed.get(address)
    if (listed === undefined) return []
    return listed instanceof Map ? [...listed.keys()] : [listed]
  }

  add(address: string, records: ServiceRecords): void {
    const listed = this.#listed.get(address)
    if (listed === undefined) return void this.#listed.set(address, records)
    const counts: Listed = listed instanceof Map ? listed : new Map([[listed, 1]])
    counts.set(records, (counts.get(records) ?? 0) + 1)
    this.#listed.set(address, counts)
  }

  remove(address: string, records: ServiceRecords): void {
    const listed = this.#listed.get(address)
    if (listed === records) return void this.#listed.delete(address)
    if (!(listed instanceof Map)) return
    const count = listed.get(records) ?? 0
    if (count > 1) return void listed.set(records, count - 1)
    listed.delete(records)
    if (listed.size === 0) this.#listed.delete(address)
  }
}
