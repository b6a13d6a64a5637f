// ImageMounts: images as folders, for volumes that show one. Before version 2.1 containerd mounts no images into containers
// when a kubelet asks for it; what it has unpacked is mounted by its own tool then, in every version.
import type { Processes } from '../../platform/process/processes.ts'
import { ctrAt, type Ctr } from './ctr.ts'

export interface ImageMounts {
  /** Shows what an image that is present holds, read-only and without programs to run; whatever was shown there before goes. */
  mount(imageId: string, path: string, signal: AbortSignal): Promise<void>
  /** Fine when nothing is shown there. */
  unmount(path: string, signal: AbortSignal): Promise<void>
}

export interface CtrImageMountsOptions {
  readonly socketPath: string
  /** The one that containers use: what it has unpacked is not unpacked again. */
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
    // A node that was cut off may have left what the mount was made of.
    await this.unmount(path, signal)
    await this.#ctr(['images', 'mount', '--snapshotter', snapshotter, imageId, path], signal)
    await this.#run('mount', ['-o', 'remount,bind,ro,noexec', path], signal)
  }

  async unmount(path: string, signal: AbortSignal): Promise<void> {
    const { snapshotter } = this.#options
    const { code } = await this.#processes.run('mountpoint', ['-q', path], {}, signal)
    if (code === 0) await this.#run('umount', [path], signal)
    // What is mounted is known by where it is.
    const known = await this.#ctr(['snapshots', '--snapshotter', snapshotter, 'list'], signal)
    const isKnown = known.split('\n').some((line) => line.split(/\s+/)[0] === path)
    if (isKnown) await this.#ctr(['snapshots', '--snapshotter', snapshotter, 'rm', path], signal)
  }

  async #run(command: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#processes.run(command, args, {}, signal)
    if (code !== 0) throw new Error(`${command} failed: ${stderr.trim()}`)
  }
}
