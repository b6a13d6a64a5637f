// StaticPods: pods from manifests of the node, and their mirror pods in the API. A mirror pod that a client changes or
// deletes is created again, because only the manifest decides what runs.
import type { Cause } from '../../base/observability/flow-recorder.ts'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { mirrorPodAnnotation } from '../../api/core/v1/pod/pod-annotations.ts'
import { pod as podKind, type Pod, type PodInput } from '../../api/core/v1/pod/pod.ts'
import {
  controllerReference,
  isBeingDeleted,
  keyOf,
  namespaceOf,
  objectKey,
  type ObjectKey,
} from '../../api/meta/object.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import type { ManifestSource } from '../../machine/manifests/manifest-source.ts'
import { hashAnnotation, isMirrorPod, sourceAnnotation, parseStaticPods, type StaticPodDeps } from './static-pod.ts'

export interface StaticPodsDeps extends StaticPodDeps {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly sources: readonly ManifestSource[]
  /** The pod of that name in the API. */
  readonly present: (key: ObjectKey) => Pod | undefined
  /** The pod must be synced; without a cause because its manifest has changed. */
  readonly onChange: (uid: string, now: Pod | undefined, cause?: Cause) => void
  /** The manifest of a pod has become invalid; the pod keeps running. */
  readonly onInvalid: (pod: Pod, why: string) => void
}

const mirrorRetryMs = 5_000

export class StaticPods {
  readonly #deps: StaticPodsDeps
  /** By uid, including terminating pods. */
  readonly #pods = new Map<string, Pod>()
  /** The pods of each file when it was last valid; an invalid file keeps its pods. */
  readonly #lastGood = new Map<string, readonly Pod[]>()

  constructor(deps: StaticPodsDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#deps.sources.map((source) => this.#watchSource(source, signal)))
  }

  /** The static pod with its mirror pod's status; it is marked as deleted when its manifest is gone. */
  find(uid: string): Pod | undefined {
    const found = this.#pods.get(uid)
    const ensureMirror = found && this.mirrorOf(found)
    return found === undefined || ensureMirror === undefined ? found : { ...found, status: ensureMirror.status }
  }

  /** The uid of the static pod that a mirror pod represents. */
  uidForMirror(ensureMirror: Pod): string | undefined {
    const key = keyOf(ensureMirror)
    return [...this.#pods.values()].find((one) => keyOf(one) === key)?.metadata.uid
  }

  /** All other static pods. */
  others(uid: string): Pod[] {
    return [...this.#pods.values()].filter(({ metadata }) => metadata.uid !== uid)
  }

  has(uid: string): boolean {
    return this.#pods.has(uid)
  }

  mirrorOf(pod: Pod): Pod | undefined {
    const found = this.#deps.present(objectKey(namespaceOf(pod), pod.metadata.name))
    return found !== undefined && isMirrorPod(found) ? found : undefined
  }

  /** Creates the mirror pod, or replaces an outdated one; returns it when it is up to date. */
  async ensureMirror(pod: Pod, context: Context): Promise<Pod | undefined> {
    const { client, nodeName } = this.#deps
    const present = this.mirrorOf(pod)
    const hash = pod.metadata.annotations?.[hashAnnotation] ?? ''
    if (present !== undefined) {
      if (present.metadata.annotations?.[mirrorPodAnnotation] === hash && !isBeingDeleted(present)) return present
      await this.#remove(present, context)
    }
    if (isBeingDeleted(pod)) return undefined
    const owner = await client.of(node).find(nodeName, '', context)
    const { uid: _, annotations, ...metadata } = pod.metadata
    const { blockOwnerDeletion: _block, ...reference } = owner === undefined ? {} : controllerReference(owner)
    const body = {
      ...pod,
      metadata: {
        ...metadata,
        annotations: { ...annotations, [mirrorPodAnnotation]: hash },
        ...(owner === undefined ? {} : { ownerReferences: [reference] }),
      },
    }
    try {
      return await client.of(podKind).create(body as unknown as PodInput, namespaceOf(pod), context)
    } catch (error) {
      // The namespace may not exist yet, or the cache is outdated.
      const { clock, log, onChange } = this.#deps
      log.debug('a mirror pod could not be created', { pod: pod.metadata.name, error: errorText(error) })
      clock.after(mirrorRetryMs, () => onChange(pod.metadata.uid, this.find(pod.metadata.uid), context.cause))
      return undefined
    }
  }

  /** The pod has terminated completely. */
  async release(pod: Pod, context: Context): Promise<void> {
    this.#pods.delete(pod.metadata.uid)
    const ensureMirror = this.mirrorOf(pod)
    if (ensureMirror !== undefined) await this.#remove(ensureMirror, context)
  }

  async #remove(ensureMirror: Pod, context: Context): Promise<void> {
    const { name, uid } = ensureMirror.metadata
    const pods = this.#deps.client.of(podKind)
    const options = { gracePeriodSeconds: 0, uid }
    await pods.delete(name, namespaceOf(ensureMirror), options, context).catch(ignoring('NotFound', 'Conflict'))
  }

  async #watchSource(source: ManifestSource, signal: AbortSignal): Promise<void> {
    const { log } = this.#deps
    for (;;) {
      try {
        await this.#readSource(source, signal)
      } catch (error) {
        signal.throwIfAborted()
        log.warn('static pod manifests could not be read', { source: source.kind, error: errorText(error) })
      }
      await source.waitForChange(signal)
    }
  }

  async #readSource(source: ManifestSource, signal: AbortSignal): Promise<void> {
    const { clock, log, onInvalid } = this.#deps
    const manifests = await source.list(signal)
    const found = new Map<string, Pod>()
    for (const manifest of manifests) {
      const name = `${source.kind} ${manifest.name}`
      try {
        // The YAML parser is loaded when it is first needed.
        const read = clock.outside(parseStaticPods(manifest, source.kind, this.#deps))
        this.#lastGood.set(name, await read)
      } catch (error) {
        log.error('a static pod manifest is invalid; its pod keeps running', {
          file: manifest.name,
          error: errorText(error),
        })
        for (const one of this.#lastGood.get(name) ?? []) onInvalid(one, errorText(error))
      }
      for (const one of this.#lastGood.get(name) ?? []) found.set(one.metadata.uid, one)
    }
    for (const name of this.#lastGood.keys())
      if (name.startsWith(`${source.kind} `) && !manifests.some((one) => name === `${source.kind} ${one.name}`))
        this.#lastGood.delete(name)
    this.#replace(source.kind, found)
  }

  #replace(kind: ManifestSource['kind'], found: ReadonlyMap<string, Pod>): void {
    const { clock, onChange } = this.#deps
    for (const [uid, known] of this.#pods) {
      if (known.metadata.annotations?.[sourceAnnotation] !== kind || found.has(uid)) continue
      if (isBeingDeleted(known)) continue
      const deletionGracePeriodSeconds = known.spec.terminationGracePeriodSeconds
      const deletionTimestamp = rfc3339(clock.nowMs())
      this.#pods.set(uid, { ...known, metadata: { ...known.metadata, deletionTimestamp, deletionGracePeriodSeconds } })
      onChange(uid, this.find(uid))
    }
    for (const [uid, one] of found) {
      if (this.#pods.has(uid) && !isBeingDeleted(one)) continue
      this.#pods.set(uid, one)
      onChange(uid, this.find(uid))
    }
  }
}
