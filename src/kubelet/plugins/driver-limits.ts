// DriverLimits: asks registered drivers periodically how many volumes the node can have, if their CSIDriver object has
// nodeAllocatableUpdatePeriodSeconds, and updates the CSINode.
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { CSIDriver } from '../../api/storage/v1/csi-driver.ts'
import { nodeService } from '../../machine/csi/methods.ts'
import type { CsiNodeUpdater } from './csi-node-updater.ts'
import type { CsiRegistry } from './csi-registry.ts'
import { withTimeLimit } from './time-limit.ts'

export interface DriverLimitsDeps {
  readonly registry: CsiRegistry
  readonly csiNode: Pick<CsiNodeUpdater, 'setLimit'>
  readonly csiDriver: (name: string, context: Context) => Promise<CSIDriver | undefined>
  readonly clock: Clock
  readonly log: Log
}

/** How often the object of a driver without a period is read again. */
const settingMs = 60_000
const driverMsMax = 120_000

export class DriverLimits {
  readonly #deps: DriverLimitsDeps
  /** Drivers that have a loop; it ends when the driver is not registered any more. */
  readonly #watched = new Set<string>()

  constructor(deps: DriverLimitsDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    await using tasks = new TaskGroup({ signal })
    this.#deps.registry.onRegistered((name) => {
      if (signal.aborted || this.#watched.has(name)) return
      this.#watched.add(name)
      tasks.start(`limit of ${name}`, (stop) => this.#watch(name, stop).finally(() => this.#watched.delete(name)))
    })
    await unlessAborted(new Promise<never>(() => {}), signal).catch(() => {})
  }

  async #watch(name: string, signal: AbortSignal): Promise<void> {
    const { registry, clock, log } = this.#deps
    while (registry.find(name) !== undefined) {
      try {
        const periodMs = await this.#periodMs(name, signal)
        await clock.sleep(periodMs ?? settingMs, signal)
        if (periodMs !== undefined) await this.#update(name, signal)
      } catch (error) {
        if (signal.aborted) return
        log.debug('the limit of a storage driver could not be updated', { driver: name, error: errorText(error) })
        await clock.sleep(settingMs, signal).catch(() => {})
      }
    }
  }

  async #periodMs(name: string, signal: AbortSignal): Promise<number | undefined> {
    const found = await this.#deps.csiDriver(name, context(signal))
    const seconds = found?.spec.nodeAllocatableUpdatePeriodSeconds
    return seconds === undefined ? undefined : Number(seconds) * 1_000
  }

  async #update(name: string, signal: AbortSignal): Promise<void> {
    const { registry, csiNode, clock } = this.#deps
    const registered = registry.find(name)
    if (registered === undefined) return
    const { maxVolumesPerNode } = await withTimeLimit(clock, driverMsMax, signal, (stop) =>
      registered.driver.call(nodeService.nodeGetInfo, {}, stop),
    )
    await csiNode.setLimit(name, maxVolumesPerNode, context(signal))
  }
}
