// ImageProvider: the image of a container, present when its pull policy is satisfied; failures are told as users know
// them.
import type { Clock } from '../../base/clock.ts'
import type { Context } from '../../base/context.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { Container } from '../../api/core/v1/container.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { namespaceOf } from '../../api/object.ts'
import { durationTextOfMs } from '../../schema/duration.ts'
import type { ContainerRuntime, RuntimeImage } from '../../machine/runtime/runtime.ts'
import type { NodeObjects } from '../node-objects.ts'
import type { Tell } from '../pod-events.ts'
import type { RecordCall } from '../record-call.ts'
import { imageNeed } from './image-need.ts'
import { credentialsFor } from './pull-secrets.ts'

export interface ImageProviderParts {
  readonly runtime: ContainerRuntime
  readonly objects: NodeObjects
  readonly clock: Clock
  readonly tell: Tell
  readonly call: RecordCall
  /** There is an image that was not there. */
  readonly onImage: () => void
}

/** Which image, and for which container. */
export type WantedImage = Pick<Container, 'name' | 'image' | 'imagePullPolicy'>

/** The image may not be pulled, and is not there. */
export class ImageNeverPulled extends Error {
  override name = 'ImageNeverPulled'
}

export class ImageProvider {
  readonly #parts: ImageProviderParts
  /** One pull at a time, as a node's network is shared; who waits may find the image present when its turn comes. */
  #lastPull: Promise<unknown> = Promise.resolve()
  /** Pulls that are under way or wait. */
  #pulls = 0

  constructor(parts: ImageProviderParts) {
    this.#parts = parts
  }

  /** Throws ImageNeverPulled, or the runtime's own error when the pull failed. */
  async provide(pod: Pod, container: WantedImage, context: Context): Promise<RuntimeImage> {
    const { runtime, tell } = this.#parts
    const { name, image = '', imagePullPolicy } = container
    const present = await runtime.findImage(image, context.signal)
    const need = imageNeed(imagePullPolicy, present !== undefined)
    const quoted = JSON.stringify(image)
    if (need === 'refuse')
      throw new ImageNeverPulled(`Container image ${quoted} is not present with pull policy of Never`)
    if (need === 'pull' || present === undefined) return this.#pull(pod, container, context)
    const message = `Container image ${quoted} already present on machine and can be accessed by the pod`
    tell(pod, { type: 'Normal', reason: 'Pulled', message, container: name }, context)
    return present
  }

  async #pull(pod: Pod, { name, image = '', imagePullPolicy }: WantedImage, context: Context): Promise<RuntimeImage> {
    const { runtime, clock, tell } = this.#parts
    const quoted = JSON.stringify(image)
    const note = { type: 'Normal', container: name } as const
    tell(pod, { ...note, reason: 'Pulling', message: `Pulling image ${quoted}` }, context)
    const askedMs = clock.monotonicMs()
    let beganMs = askedMs
    const id = await this.#inTurn(context, async () => {
      beganMs = clock.monotonicMs()
      const known = imagePullPolicy === 'Always' ? undefined : await runtime.findImage(image, context.signal)
      return known?.id ?? this.#tryAll(pod, image, context)
    })
    const found = await runtime.findImage(image, context.signal)
    const nowMs = clock.monotonicMs()
    const [took, all] = [durationTextOfMs(nowMs - beganMs), durationTextOfMs(nowMs - askedMs)]
    const size = found?.sizeBytes ?? 0
    if (size > 0) this.#parts.onImage()
    const message = `Successfully pulled image ${quoted} in ${took} (${all} including waiting). Image size: ${size} bytes.`
    tell(pod, { ...note, reason: 'Pulled', message }, context)
    return found ?? { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' }
  }

  async #inTurn<T>({ signal }: Context, pull: () => Promise<T>): Promise<T> {
    const turn = this.#lastPull
    const done = Promise.withResolvers<void>()
    this.#lastPull = turn.then(() => done.promise)
    const isAlone = this.#pulls++ === 0
    try {
      if (!isAlone) await unlessAborted(turn, signal)
      return await pull()
    } finally {
      this.#pulls--
      done.resolve()
    }
  }

  /** With each credential that fits until one opens; without any where there is none. */
  async #tryAll(pod: Pod, image: string, context: Context): Promise<string> {
    const { runtime, objects, call } = this.#parts
    const names = (pod.spec.imagePullSecrets ?? []).map(({ name = '' }) => name)
    const secrets = await Promise.all(names.map((name) => objects.secret(namespaceOf(pod), name, context)))
    const known = credentialsFor(
      image,
      secrets.filter((secret) => secret !== undefined),
    )
    let failure: unknown
    for (const credentials of known.length === 0 ? [undefined] : known) {
      try {
        return await call(`pull image ${image}`, pod, context, () =>
          runtime.pullImage(image, credentials, context.signal),
        )
      } catch (error) {
        failure = error
        if (context.signal.aborted) break
      }
    }
    throw failure
  }
}
