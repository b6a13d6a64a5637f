// CsiStats: the usage of published volumes as their drivers report it. Drivers are asked in the background, at most once
// per period and volume, so that one that does not answer does not delay the statistics of the node.
import { rfc3339, type Clock } from '../../../base/time/clock.ts'
import type { nodeGetVolumeStatsResponse } from '../../../machine/csi/messages/node.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import type { Proto } from '../../../wire/protobuf/proto-message.ts'
import type { CsiCalls } from './csi-calls.ts'
import type { CsiState, Publication } from './csi-state.ts'
import { uniqueName } from './csi-volume.ts'
import { stagesVolumes } from './staging.ts'

/** Upstream's period of volume statistics. */
const periodMs = 60_000

/** Fields that the driver does not report are left out. */
export interface VolumeUsage {
  readonly time: string
  readonly availableBytes?: number
  readonly capacityBytes?: number
  readonly usedBytes?: number
  readonly inodesFree?: number
  readonly inodes?: number
  readonly inodesUsed?: number
}

export interface CsiStatsDeps {
  readonly calls: CsiCalls
  readonly state: CsiState
  readonly clock: Clock
}

interface Entry {
  /** When the driver is asked next. */
  dueMs: number
  usage: VolumeUsage | undefined
}

export class CsiStats {
  readonly #deps: CsiStatsDeps
  readonly #entries = new Map<string, Entry>()
  readonly #closed = new AbortController()

  constructor(deps: CsiStatsDeps) {
    this.#deps = deps
  }

  /** The known usage of the pod's volumes, by the name of the volume in the pod. */
  of(podUid: string): ReadonlyMap<string, VolumeUsage> {
    const { state, clock } = this.#deps
    const usages = new Map<string, VolumeUsage>()
    for (const publication of state.publicationsOfPod(podUid)) {
      const { target, volumeName } = publication
      const entry: Entry = this.#entries.get(target) ?? { dueMs: 0, usage: undefined }
      this.#entries.set(target, entry)
      if (entry.usage !== undefined && volumeName !== undefined) usages.set(volumeName, entry.usage)
      if (clock.monotonicMs() < entry.dueMs) continue
      entry.dueMs = clock.monotonicMs() + periodMs
      this.#ask(publication, this.#closed.signal).then(
        (usage) => (entry.usage = usage),
        () => (entry.usage = undefined),
      )
    }
    return usages
  }

  /** The volumes of the pod were released. */
  removePod(podUid: string): void {
    for (const { target } of this.#deps.state.publicationsOfPod(podUid)) this.#entries.delete(target)
  }

  /** Ends calls in progress. */
  close(): void {
    this.#closed.abort()
  }

  /** Undefined when the driver does not report usage. */
  async #ask(publication: Publication, signal: AbortSignal): Promise<VolumeUsage | undefined> {
    const { calls, state, clock } = this.#deps
    const { driver, handle, target } = publication
    const client = 'failed to create newCsiDriverClient'
    const capabilities = await calls.capabilities(driver, client, signal)
    if (!capabilities.has('GET_VOLUME_STATS')) return undefined
    const staged = stagesVolumes(capabilities) ? state.findStaged(uniqueName(publication)) : undefined
    const request = { volumeId: handle, volumePath: target, stagingTargetPath: staged?.staging ?? '' }
    const response = await calls.read(driver, client, nodeService.nodeGetVolumeStats, request, signal)
    return volumeUsage(response, rfc3339(clock.nowMs()))
  }
}

export function volumeUsage({ usage }: Proto<typeof nodeGetVolumeStatsResponse>, time: string): VolumeUsage {
  const bytes = usage.find(({ unit }) => unit === 'BYTES')
  const inodes = usage.find(({ unit }) => unit === 'INODES')
  return {
    time,
    ...(bytes && { availableBytes: bytes.available, capacityBytes: bytes.total, usedBytes: bytes.used }),
    ...(inodes && { inodesFree: inodes.available, inodes: inodes.total, inodesUsed: inodes.used }),
  }
}
