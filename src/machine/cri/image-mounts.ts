// ImageMounts: mounts images as directories for image volumes. containerd supports image volumes in CRI from 2.1 on;
// mounting with `ctr` works in all versions.
import type { Processes } from '../../platform/process/processes.ts'
import { ctrAt, type Ctr } from './ctr.ts'

export interface ImageMounts {
  /** Mounts a present image read-only and noexec; replaces an earlier mount at the path. */
  mount(imageId: string, path: string, signal: AbortSignal): Promise<void>
  /** Does nothing when no image is mounted there. */
  unmount(path: string, signal: AbortSignal): Promise<void>
}

export interface CtrImageMountsOptions {
  readonly socketPath: string
  /** The snapshotter of the containers, so that the image is not unpacked twice. */
  readonly snapshotter: string
}

export class CtrImageMounts implements ImageMounts {
  readonly #processes: Processes
  readonly #options: CtrImageMountsOptions
  readonly #ctr: Ctr

  constructor(processes: Processes, options: CtrImageMountsOptions) {
    this.#processes = processes
    this.#options = options
    this.#ctr = ctrAt(processes, options.socketPath)
  }

  async mount(imageId: string, path: string, signal: AbortSignal): Promise<void> {
    const { snapshotter } = this.#options
    // A node that crashed may have left the snapshot of an earlier mount.
    await this.unmount(path, signal)
    await this.#ctr(['images', 'mount', '--snapshotter', snapshotter, imageId, path], signal)
    await this.#run('mount', ['-o', 'remount,bind,ro,noexec', path], signal)
  }

  async unmount(path: string, signal: AbortSignal): Promise<void> {
    const { snapshotter } = this.#options
    const { code } = await this.#processes.run('mountpoint', ['-q', path], {}, signal)
    if (code === 0) await this.#run('umount', [path], signal)
    // The key of the snapshot is the mount path.
    const known = await this.#ctr(['snapshots', '--snapshotter', snapshotter, 'list'], signal)
    const isKnown = known.split('\n').some((line) => line.split(/\s+/)[0] === path)
    if (isKnown) await this.#ctr(['snapshots', '--snapshotter', snapshotter, 'rm', path], signal)
  }

  async #run(command: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#processes.run(command, args, {}, signal)
    if (code !== 0) throw new Error(`${command} failed: ${stderr.trim()}`)
  }
}
