// ImageManager: ensures that the image of a container is present according to its pull policy. Events and errors equal
// upstream's.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import type { ContainerRuntime, RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import type { ReferencedObjects } from '../objects/referenced-objects.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { RecordCall } from '../events/record-call.ts'
import { pullDecision } from './pull-decision.ts'
import { credentialsFor } from './pull-secrets.ts'

export interface ImageManagerDeps {
  readonly runtime: ContainerRuntime
  readonly objects: ReferencedObjects
  readonly clock: Clock
  readonly recordEvent: RecordPodEvent
  readonly call: RecordCall
  /** Called when a new image was pulled. */
  readonly onPulled: () => void
}

/** The image and the container that needs it. */
export type WantedImage = Pick<Container, 'name' | 'image' | 'imagePullPolicy'>

/** The pull policy is Never and the image is not present. */
export class ImageNeverPulled extends Error {
  override name = 'ImageNeverPulled'
}

export class ImageManager {
  readonly #deps: ImageManagerDeps
  /** Images are pulled one at a time; a queued pull checks again whether the image is present when its turn comes. */
  #lastPull: Promise<unknown> = Promise.resolve()
  /** Pulls in progress or queued. */
  #pulls = 0

  constructor(deps: ImageManagerDeps) {
    this.#deps = deps
  }

  /** Throws ImageNeverPulled, or the runtime's error when the pull fails. */
  async ensureImage(pod: Pod, container: WantedImage, context: Context): Promise<RuntimeImage> {
    const { runtime, recordEvent } = this.#deps
    const { name, image = '', imagePullPolicy } = container
    const present = await runtime.findImage(image, context.signal)
    const decision = pullDecision(imagePullPolicy, present !== undefined)
    const quoted = JSON.stringify(image)
    if (decision === 'fail')
      throw new ImageNeverPulled(`Container image ${quoted} is not present with pull policy of Never`)
    if (decision === 'pull' || present === undefined) return this.#pull(pod, container, context)
    const message = `Container image ${quoted} already present on machine and can be accessed by the pod`
    recordEvent(pod, { type: 'Normal', reason: 'Pulled', message, container: name }, context)
    return present
  }

  async #pull(pod: Pod, { name, image = '', imagePullPolicy }: WantedImage, context: Context): Promise<RuntimeImage> {
    const { runtime, clock, recordEvent } = this.#deps
    const quoted = JSON.stringify(image)
    const note = { type: 'Normal', container: name } as const
    recordEvent(pod, { ...note, reason: 'Pulling', message: `Pulling image ${quoted}` }, context)
    const requestedMs = clock.monotonicMs()
    let beganMs = requestedMs
    const id = await this.#serialized(context, async () => {
      beganMs = clock.monotonicMs()
      const known = imagePullPolicy === 'Always' ? undefined : await runtime.findImage(image, context.signal)
      return known?.id ?? this.#pullWithCredentials(pod, image, context)
    })
    const found = await runtime.findImage(image, context.signal)
    const nowMs = clock.monotonicMs()
    const took = durationTextOfMs(nowMs - beganMs)
    const all = durationTextOfMs(nowMs - requestedMs)
    const size = found?.sizeBytes ?? 0
    if (size > 0) this.#deps.onPulled()
    const message = `Successfully pulled image ${quoted} in ${took} (${all} including waiting). Image size: ${size} bytes.`
    recordEvent(pod, { ...note, reason: 'Pulled', message }, context)
    return found ?? { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' }
  }

  async #serialized<T>({ signal }: Context, pull: () => Promise<T>): Promise<T> {
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

  /** Tries every matching credential in turn; without credentials the pull is anonymous. */
  async #pullWithCredentials(pod: Pod, image: string, context: Context): Promise<string> {
    const { runtime, objects, call } = this.#deps
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
