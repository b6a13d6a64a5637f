// ContainerStarter: one container from image to running. What goes wrong is remembered with the words that users know
// and tried again after a while.
import type { Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { backoffMs, type Backoff } from '../base/work-queue.ts'
import type { Container } from '../api/core/v1/container.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { EventNote } from '../client/event-recorder.ts'
import type { ContainerRuntime, RuntimeImage, RuntimePod } from '../machine/runtime/runtime.ts'
import { ImageNeverPulled, type ImageProvider } from './images/image-provider.ts'
import { ConfigError } from './pod-config/config-error.ts'
import type { PodMaker } from './pod-maker.ts'
import type { PodMemory } from './pod-memory.ts'
import { VolumeError } from './volumes/volume-type.ts'

export interface ContainerStarterParts {
  readonly runtime: ContainerRuntime
  readonly images: ImageProvider
  readonly maker: PodMaker
  readonly clock: Clock
  readonly hostIp: string
  readonly tell: (pod: Pod, note: EventNote, context: Context) => Promise<void>
  readonly call: <T>(what: string, pod: Pod, context: Context, action: () => Promise<T>) => Promise<T>
}

const pullBackoff: Backoff = { initialMs: 10_000, maxMs: 300_000 }
const configBackoff: Backoff = { initialMs: 10_000, maxMs: 10_000 }
const volumeBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }

export class ContainerStarter {
  readonly #parts: ContainerStarterParts

  constructor(parts: ContainerStarterParts) {
    this.#parts = parts
  }

  async start(
    pod: Pod,
    container: Container,
    attempt: number,
    running: RuntimePod,
    memory: PodMemory,
    context: Context,
  ): Promise<void> {
    try {
      const image = await this.#image(pod, container, memory, context)
      if (image === undefined) return
      await this.#run(pod, container, attempt, running, image, context)
      memory.waiting.delete(container.name)
      memory.failures.delete(container.name)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      await this.#remember(pod, container.name, error, memory, context)
    }
  }

  async #image(pod: Pod, container: Container, memory: PodMemory, context: Context): Promise<RuntimeImage | undefined> {
    const { images, tell } = this.#parts
    const { name, image = '' } = container
    try {
      return await images.provide(pod, container, context)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      const why = error.message
      const isNever = error instanceof ImageNeverPulled
      const count = this.#failed(name, memory, pullBackoff)
      const message = isNever ? why : `Failed to pull image ${JSON.stringify(image)}: ${why}`
      if (isNever || count === 1)
        memory.waiting.set(name, { reason: isNever ? 'ErrImageNeverPull' : 'ErrImagePull', message: why })
      else
        memory.waiting.set(name, {
          reason: 'ImagePullBackOff',
          message: `Back-off pulling image ${JSON.stringify(image)}: ErrImagePull: ${why}`,
        })
      await tell(pod, { type: 'Warning', reason: isNever ? 'ErrImageNeverPull' : 'Failed', message }, context)
      return undefined
    }
  }

  async #run(
    pod: Pod,
    container: Container,
    attempt: number,
    running: RuntimePod,
    image: RuntimeImage,
    context: Context,
  ): Promise<void> {
    const { runtime, maker, hostIp, tell, call } = this.#parts
    const { name } = container
    const podIps = pod.spec.hostNetwork ? [hostIp] : running.ips
    const config = await maker.container(pod, container, attempt, image, podIps, context)
    const sandbox = maker.sandbox(pod, running.attempt)
    await call(`start container ${name}`, pod, context, async () => {
      const id = await runtime.createContainer(running.sandboxId, config, sandbox, context.signal)
      await tell(pod, { type: 'Normal', reason: 'Created', message: `Created container: ${name}` }, context)
      await runtime.startContainer(id, context.signal)
    })
    await tell(pod, { type: 'Normal', reason: 'Started', message: `Started container ${name}` }, context)
  }

  async #remember(pod: Pod, name: string, error: Error, memory: PodMemory, context: Context): Promise<void> {
    const { tell } = this.#parts
    if (error instanceof VolumeError) {
      this.#failed(name, memory, volumeBackoff)
      return tell(pod, { type: 'Warning', reason: 'FailedMount', message: error.message }, context)
    }
    const isConfig = error instanceof ConfigError
    this.#failed(name, memory, configBackoff)
    memory.waiting.set(name, {
      reason: isConfig ? 'CreateContainerConfigError' : 'RunContainerError',
      message: error.message,
    })
    return tell(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${error.message}` }, context)
  }

  /** Notes a failure and when to try again; returns how often it has failed. */
  #failed(name: string, { failures }: PodMemory, backoff: Backoff): number {
    const count = (failures.get(name)?.count ?? 0) + 1
    failures.set(name, { count, untilMs: this.#parts.clock.nowMs() + backoffMs(backoff, count - 1) })
    return count
  }
}
