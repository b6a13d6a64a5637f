// ImageGcManager: removes unused images that exceed the maximum age, or when the disk usage exceeds the high threshold;
// the least recently used are removed first.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { FileSystemLoad } from '../../machine/load/host-load.ts'
import type { ContainerRuntime, RuntimeImage } from '../../machine/runtime/container-runtime.ts'

export interface ImageGcSettings {
  /** Disk usage at which image garbage collection starts, and the usage it aims for. */
  readonly highPercent: number
  readonly lowPercent: number
  /** Minimum age of an unused image that is removed to free space, and maximum age of any unused image; 0: no bound. */
  readonly ageMsMin: number
  readonly ageMsMax: number
}

export interface ImageGcManagerDeps {
  readonly runtime: Pick<ContainerRuntime, 'images' | 'imagesInUse' | 'removeImage'>
  /** References of the images that image volumes of pods use. */
  readonly volumeImages: () => readonly string[]
  /** The file system of the images. */
  readonly fileSystem: (signal: AbortSignal) => Promise<FileSystemLoad>
  readonly settings: ImageGcSettings
  /** Called when not enough space could be freed; records an event of the node. */
  readonly onShortage: (message: string, signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

const intervalMs = 300_000

interface ImageRecord {
  readonly sinceMs: number
  lastUsedMs: number
}

export class ImageGcManager {
  readonly #deps: ImageGcManagerDeps
  /** Present images: when they were first detected and last used. */
  readonly #records = new Map<string, ImageRecord>()

  constructor(deps: ImageGcManagerDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    for (;;) {
      await this.collect(signal).catch((error: unknown) => {
        signal.throwIfAborted()
        log.warn('image garbage collection failed', { error: errorText(error) })
      })
      await clock.sleep(intervalMs, signal)
    }
  }

  /** Removes images that are too old, then as many others as the disk usage requires. */
  async collect(signal: AbortSignal): Promise<void> {
    const { settings, fileSystem, clock, onShortage } = this.#deps
    const unused = await this.#unused(signal)
    const nowMs = clock.nowMs()
    const isOld = ({ id }: RuntimeImage) =>
      settings.ageMsMax > 0 && nowMs - (this.#records.get(id)?.lastUsedMs ?? nowMs) > settings.ageMsMax
    for (const image of unused.filter(isOld)) await this.#remove(image, signal)
    const { capacityBytes, availableBytes } = await fileSystem(signal)
    const usedBytes = capacityBytes - availableBytes
    if (capacityBytes === 0 || (usedBytes * 100) / capacityBytes < settings.highPercent) return
    const wantedBytes = usedBytes - Math.floor((capacityBytes * settings.lowPercent) / 100)
    const isYoung = (image: RuntimeImage) => nowMs - (this.#records.get(image.id)?.sinceMs ?? nowMs) < settings.ageMsMin
    const freedBytes = await this.#removeUntil(
      unused.filter((image) => !isOld(image) && !isYoung(image)),
      wantedBytes,
      signal,
    )
    if (freedBytes < wantedBytes)
      await onShortage(
        `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`,
        signal,
      )
  }

  /** Removes all unused images regardless of their age. */
  async deleteUnusedImages(signal: AbortSignal): Promise<void> {
    await this.#removeUntil(await this.#unused(signal), Infinity, signal)
  }

  async #removeUntil(images: readonly RuntimeImage[], wantedBytes: number, signal: AbortSignal): Promise<number> {
    let freed = 0
    for (const image of images) {
      if (freed >= wantedBytes) break
      await this.#remove(image, signal)
      freed += image.sizeBytes
    }
    return freed
  }

  async #remove({ id }: RuntimeImage, signal: AbortSignal): Promise<void> {
    await this.#deps.runtime.removeImage(id, signal)
    this.#records.delete(id)
  }

  /** Unused images in the order of removal. */
  async #unused(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    const { runtime, volumeImages, clock } = this.#deps
    const [images, run] = await Promise.all([runtime.images(signal), runtime.imagesInUse(signal)])
    const used = run.union(new Set(volumeImages()))
    const nowMs = clock.nowMs()
    const present = new Set(images.map(({ id }) => id))
    for (const id of this.#records.keys()) if (!present.has(id)) this.#records.delete(id)
    const isUsed = ({ id, tags, digests }: RuntimeImage) => [id, ...tags, ...digests].some((name) => used.has(name))
    for (const image of images) {
      const record = this.#records.get(image.id) ?? { sinceMs: nowMs, lastUsedMs: nowMs }
      if (isUsed(image)) record.lastUsedMs = nowMs
      this.#records.set(image.id, record)
    }
    const orderOf = ({ id }: RuntimeImage) => this.#records.get(id) ?? { sinceMs: nowMs, lastUsedMs: nowMs }
    return images
      .filter((image) => image.isPinned !== true && !isUsed(image))
      .toSorted((a, b) => orderOf(a).lastUsedMs - orderOf(b).lastUsedMs || orderOf(a).sinceMs - orderOf(b).sinceMs)
  }
}
