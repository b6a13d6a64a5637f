// CsiRegistry: the storage drivers that are registered on this node, by name.
import type { CsiDriver } from '../../machine/csi/csi-driver.ts'

export interface RegisteredDriver {
  readonly name: string
  /** The socket of the driver. */
  readonly endpoint: string
  readonly version: string
  readonly driver: CsiDriver
}

export class CsiRegistry {
  readonly #drivers = new Map<string, RegisteredDriver>()
  readonly #listeners = new Set<(name: string) => void>()

  /** Calls the listener after a driver was registered. */
  onRegistered(listener: (name: string) => void): void {
    this.#listeners.add(listener)
  }

  find(name: string): RegisteredDriver | undefined {
    return this.#drivers.get(name)
  }

  add(driver: RegisteredDriver): void {
    this.#drivers.get(driver.name)?.driver.close()
    this.#drivers.set(driver.name, driver)
    for (const listener of this.#listeners) listener(driver.name)
  }

  remove(name: string): void {
    this.#drivers.get(name)?.driver.close()
    this.#drivers.delete(name)
  }

  close(): void {
    for (const name of [...this.#drivers.keys()]) this.remove(name)
  }
}
