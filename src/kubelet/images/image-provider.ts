// ImageProvider: the image of a container, present when its pull policy is satisfied; failures are told as users know
// them.
import type { Clock } from '../../base/clock.ts'
import type { Context } from '../../base/context.ts'
import type { Container } from '../../api/core/v1/container.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { namespaceOf } from '../../api/object.ts'
import type { EventNote } from '../../client/event-recorder.ts'
import type { ContainerRuntime, RuntimeImage } from '../../machine/runtime/runtime.ts'
import type { NodeObjects } from '../node-objects.ts'
import { imageNeed } from './image-need.ts'
import { credentialsFor } from './pull-secrets.ts'

export interface ImageProviderParts {
  readonly runtime: ContainerRuntime
  readonly objects: NodeObjects
  readonly clock: Clock
  /** Tells an event about the pod. */
  readonly tell: (pod: Pod, note: EventNote, context: Context) => Promise<void>
  /** Records a call to the runtime around an action. */
  readonly call: <T>(what: string, pod: Pod, context: Context, action: () => Promise<T>) => Promise<T>
}

/** The image may not be pulled, and is not there. */
export class ImageNeverPulled extends Error {
  override name = 'ImageNeverPulled'
}

export class ImageProvider {
  readonly #parts: ImageProviderParts

  constructor(parts: ImageProviderParts) {
    this.#parts = parts
  }

  /** Throws ImageNeverPulled, or the runtime's own error when the pull failed. */
  async provide(
    pod: Pod,
    { image = '', imagePullPolicy }: Pick<Container, 'image' | 'imagePullPolicy'>,
    context: Context,
  ): Promise<RuntimeImage> {
    const { runtime, tell } = this.#parts
    const present = await runtime.findImage(image, context.signal)
    const need = imageNeed(imagePullPolicy, present !== undefined)
    const quoted = JSON.stringify(image)
    if (need === 'refuse')
      throw new ImageNeverPulled(`Container image ${quoted} is not present with pull policy of Never`)
    if (need === 'pull' || present === undefined) return this.#pull(pod, image, context)
    const message = `Container image ${quoted} already present on machine and can be accessed by the pod`
    await tell(pod, { type: 'Normal', reason: 'Pulled', message }, context)
    return present
  }

  async #pull(pod: Pod, image: string, context: Context): Promise<RuntimeImage> {
    const { runtime, clock, tell, call } = this.#parts
    const quoted = JSON.stringify(image)
    await tell(pod, { type: 'Normal', reason: 'Pulling', message: `Pulling image ${quoted}` }, context)
    const startMs = clock.monotonicMs()
    const id = await call(`pull image ${image}`, pod, context, () => this.#tryAll(pod, image, context))
    const found = await runtime.findImage(image, context.signal)
    const took = `${Math.round(clock.monotonicMs() - startMs)}ms`
    const size = found?.sizeBytes ?? 0
    const message = `Successfully pulled image ${quoted} in ${took} (${took} including waiting). Image size: ${size} bytes.`
    await tell(pod, { type: 'Normal', reason: 'Pulled', message }, context)
    return found ?? { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' }
  }

  /** With each credential that fits until one opens; without any where there is none. */
  async #tryAll(pod: Pod, image: string, context: Context): Promise<string> {
    const { runtime, objects } = this.#parts
    const names = (pod.spec.imagePullSecrets ?? []).map(({ name = '' }) => name)
    const secrets = await Promise.all(names.map((name) => objects.secret(namespaceOf(pod), name, context)))
    const known = credentialsFor(
      image,
      secrets.filter((secret) => secret !== undefined),
    )
    let failure: unknown
    for (const credentials of known.length === 0 ? [undefined] : known) {
      try {
        return await runtime.pullImage(image, credentials, context.signal)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
}
