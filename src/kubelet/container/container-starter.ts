// ContainerStarter: pulls the images of one container, creates and starts it, and runs its postStart hook. Failures are
// recorded as waiting reasons and events that equal upstream's, and retried with a backoff.
import type { Context } from '../../base/observability/context.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerRuntime, RuntimeImage, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { runHook, type HookDeps } from './lifecycle-hooks.ts'
import { ImageNeverPulled, type ImageManager, type WantedImage } from '../images/image-manager.ts'
import type { ContainerStart } from '../pod/pod-actions.ts'
import { ConfigError } from '../pod-config/config-error.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { ContainerImages, PodProvisioner } from './pod-provisioner.ts'
import type { Failure, PodSyncState } from '../pod/pod-sync-state.ts'
import type { RecordCall } from '../events/record-call.ts'
import { AttachmentPending, VolumeError } from '../volumes/contract/volume-type.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

export interface ContainerStarterDeps extends HookDeps {
  readonly runtime: ContainerRuntime
  readonly images: ImageManager
  readonly provisioner: PodProvisioner
  readonly hostIp: string
  readonly recordEvent: RecordPodEvent
  readonly call: RecordCall
}

const pullBackoff: Backoff = { initialMs: 10_000, maxMs: 300_000 }
const configBackoff: Backoff = { initialMs: 10_000, maxMs: 10_000 }
const volumeBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }
/** How long a failed pull is reported as ErrImagePull before it is reported as ImagePullBackOff. */
const pullErrorMs = 1_000

const noImages: ContainerImages['volumes'] = new Map()

/** The postStart hook failed; the container was stopped and counts as crashed. */
class HookFailed extends Error {
  override name = 'HookFailed'
}

export class ContainerStarter {
  readonly #deps: ContainerStarterDeps

  constructor(deps: ContainerStarterDeps) {
    this.#deps = deps
  }

  async start(
    pod: Pod,
    start: ContainerStart,
    running: RuntimePod,
    state: PodSyncState,
    context: Context,
  ): Promise<void> {
    const { name } = start.container
    try {
      const images = await this.#images(pod, start.container, state, context)
      if (images === undefined) return
      await this.#run(pod, start, running, images, context)
      state.waiting.delete(name)
      state.failures.delete(name)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      this.#recordFailure(pod, name, error, state, context)
    }
  }

  /** Images of the container and of the image volumes it mounts; undefined when one cannot be provided. */
  async #images(
    pod: Pod,
    container: Container,
    state: PodSyncState,
    context: Context,
  ): Promise<ContainerImages | undefined> {
    const own = await this.#image(pod, container, state, context)
    if (own === undefined) return undefined
    if (!pod.spec.volumes?.some(({ image }) => image !== undefined)) return { own, volumes: noImages }
    const volumes = new Map<string, RuntimeImage>()
    const mounted = new Set(container.volumeMounts?.map(({ name }) => name))
    for (const { name: volume, image: source } of pod.spec.volumes ?? []) {
      if (source === undefined || !mounted.has(volume)) continue
      const { reference: image = '', pullPolicy: imagePullPolicy } = source
      const wanted = { name: container.name, image, ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }) }
      const found = await this.#image(pod, wanted, state, context)
      if (found === undefined) return undefined
      volumes.set(volume, found)
    }
    return { own, volumes }
  }

  async #image(
    pod: Pod,
    container: WantedImage,
    state: PodSyncState,
    context: Context,
  ): Promise<RuntimeImage | undefined> {
    const { images, clock, recordEvent } = this.#deps
    const { name, image = '' } = container
    try {
      return await images.ensureImage(pod, container, context)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      const why = error.message
      const quoted = JSON.stringify(image)
      const fail = (reason: string, message: string) =>
        recordEvent(pod, { type: 'Warning', reason, message, container: name }, context)
      if (error instanceof ImageNeverPulled) {
        this.#backOff(name, state, configBackoff)
        state.waiting.set(name, { reason: 'ErrImageNeverPull', message: why })
        fail('ErrImageNeverPull', why)
        fail('Failed', 'Error: ErrImageNeverPull')
        return undefined
      }
      state.waiting.set(name, { reason: 'ErrImagePull', message: why })
      this.#backOff(name, state, pullBackoff, {
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image ${quoted}: ErrImagePull: ${why}`,
        event: `Back-off pulling image ${quoted}`,
        fromMs: clock.nowMs() + pullErrorMs,
      })
      fail('Failed', `Failed to pull image ${quoted}: ${why}`)
      fail('Failed', 'Error: ErrImagePull')
      return undefined
    }
  }

  async #run(
    pod: Pod,
    { container, attempt, targetId }: ContainerStart,
    running: RuntimePod,
    images: ContainerImages,
    context: Context,
  ): Promise<void> {
    const { runtime, provisioner, hostIp, recordEvent, call } = this.#deps
    const { name } = container
    const podIps = pod.spec.hostNetwork ? [hostIp] : running.ips
    const made = await provisioner.container(pod, container, attempt, images, podIps, context)
    const config = targetId === undefined ? made : { ...made, targetId }
    const sandbox = await provisioner.sandbox(pod, running.attempt, context)
    const note = { type: 'Normal', container: name } as const
    const id = await call(`start container ${name}`, pod, context, async () => {
      const created = await runtime.createContainer(running.sandboxId, config, sandbox, context.signal)
      recordEvent(pod, { ...note, reason: 'Created', message: 'Container created' }, context)
      await runtime.startContainer(created, context.signal)
      return created
    })
    recordEvent(pod, { ...note, reason: 'Started', message: 'Container started' }, context)
    await this.#postStart(pod, container, id, podIps[0] ?? '', context)
  }

  async #postStart(pod: Pod, container: Container, id: string, podIp: string, context: Context): Promise<void> {
    const { runtime, recordEvent, call } = this.#deps
    const { name, lifecycle } = container
    const handler = lifecycle?.postStart
    if (handler === undefined) return
    try {
      await call(`postStart hook of container ${name}`, pod, context, () =>
        runHook(handler, { container, containerId: id, podIp }, this.#deps, context.signal),
      )
    } catch (error) {
      if (context.signal.aborted) throw error
      // The output of the hook may contain secrets, so the event does not include it.
      const failed = 'PostStartHook failed'
      const killing = 'FailedPostStartHook'
      recordEvent(pod, { type: 'Warning', reason: 'FailedPostStartHook', message: failed, container: name }, context)
      recordEvent(pod, { type: 'Normal', reason: 'Killing', message: killing, container: name }, context)
      const graceMs = secondsAsMs(pod.spec.terminationGracePeriodSeconds)
      await call(`stop container ${name}`, pod, context, () => runtime.stopContainer(id, graceMs, context.signal))
      throw new HookFailed(failed, { cause: error })
    }
  }

  #recordFailure(pod: Pod, name: string, error: Error, state: PodSyncState, context: Context): void {
    const { recordEvent } = this.#deps
    const warn = (reason: string, message: string) =>
      recordEvent(pod, { type: 'Warning', reason, message, container: name }, context)
    if (error instanceof VolumeError) {
      this.#backOff(name, state, volumeBackoff)
      if (error instanceof AttachmentPending) return
      return recordEvent(pod, { type: 'Warning', reason: error.reason, message: error.message }, context)
    }
    if (error instanceof HookFailed) {
      state.waiting.set(name, { reason: 'PostStartHookError', message: error.message })
      return
    }
    const reason = error instanceof ConfigError ? 'CreateContainerConfigError' : 'RunContainerError'
    this.#backOff(name, state, configBackoff)
    state.waiting.set(name, { reason, message: error.message })
    warn('Failed', `Error: ${error.message}`)
  }

  /** Records a failure and the time of the next attempt. */
  #backOff(name: string, { failures }: PodSyncState, backoff: Backoff, later?: Failure['later']): void {
    const count = (failures.get(name)?.count ?? 0) + 1
    const untilMs = this.#deps.clock.nowMs() + backoffMs(backoff, count - 1)
    failures.set(name, { count, untilMs, ...(later === undefined ? {} : { later }) })
  }
}
