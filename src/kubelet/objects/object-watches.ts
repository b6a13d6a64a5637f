// ObjectWatches: watches the ConfigMaps and Secrets that volumes on this node use, each by name, because a kubelet may
// not list others. A watch ends with its last pod, or when the object is immutable.
import { escapedFieldValue } from '../../api/selectors/field-selector-text.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer/informer.ts'

export interface ObjectWatchesDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

type Watchable = ApiObject & { readonly immutable?: boolean }

interface Watch {
  readonly informer: Informer<Watchable>
  readonly pods: Set<string>
  readonly end: AbortController
}

export class ObjectWatches {
  readonly #deps: ObjectWatchesDeps
  readonly #watches = new Map<string, Watch>()
  readonly #listeners = new Set<(podUid: string, cause: Cause) => void>()
  readonly #objectsOfPod = new Map<string, ReadonlySet<string>>()

  constructor(deps: ObjectWatchesDeps) {
    this.#deps = deps
  }

  /** Calls the listener for every pod that uses a changed object. */
  onChange(listener: (podUid: string, cause: Cause) => void): void {
    this.#listeners.add(listener)
  }

  /** Starts the watches of the pod's volumes. */
  addPod(pod: Pod): void {
    const namespace = namespaceOf(pod)
    const { uid } = pod.metadata
    if (this.#objectsOfPod.has(uid)) return // the volumes of a pod are immutable
    const used = new Map(usedObjects(pod).map(({ kind, name }) => [keyOf(kind, namespace, name), { kind, name }]))
    this.#objectsOfPod.set(uid, new Set(used.keys()))
    for (const [key, { kind, name }] of used) {
      const watch = this.#watches.get(key) ?? this.#start(kind, namespace, name)
      watch.pods.add(uid)
      this.#watches.set(key, watch)
    }
  }

  removePod(podUid: string): void {
    for (const key of this.#objectsOfPod.get(podUid) ?? []) {
      const watch = this.#watches.get(key)
      watch?.pods.delete(podUid)
      if (watch?.pods.size !== 0) continue
      watch.end.abort()
      this.#watches.delete(key)
    }
    this.#objectsOfPod.delete(podUid)
  }

  /** The watched object; undefined when it does not exist or the watch has not synced yet. */
  find<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    const found = this.#watches.get(keyOf(kind, namespace, name))?.informer.get(objectKey(namespace, name))
    return found as ApiObject as T | undefined
  }

  close(): void {
    for (const uid of [...this.#objectsOfPod.keys()]) this.removePod(uid)
  }

  #start(kind: Kind, namespace: string, name: string): Watch {
    const { client, clock, random, log } = this.#deps
    const selection = { namespace, fieldSelector: `metadata.name=${escapedFieldValue(name)}` }
    const informer = new Informer<Watchable>(kind, client.of(kind), { clock, random, log }, selection)
    const watch: Watch = { informer, pods: new Set(), end: new AbortController() }
    informer.onChange(({ now, cause }) => {
      for (const listener of this.#listeners) for (const uid of watch.pods) listener(uid, cause)
      if (now?.immutable) watch.end.abort()
    })
    // It only ends with its signal.
    informer.run(watch.end.signal).catch(() => {})
    return watch
  }
}

const keyOf = (kind: Kind, namespace: string, name: string): string => `${kind.plural} ${objectKey(namespace, name)}`

function usedObjects({ spec }: Pod): { readonly kind: Kind; readonly name: string }[] {
  const sources = (spec.volumes ?? []).flatMap((volume) => [
    { configMap: volume.configMap?.name, secret: volume.secret?.secretName },
    ...(volume.projected?.sources ?? []).map((source) => ({
      configMap: source.configMap?.name,
      secret: source.secret?.name,
    })),
  ])
  return sources.flatMap((source) => [
    ...(source.configMap ? [{ kind: configMap as Kind, name: source.configMap }] : []),
    ...(source.secret ? [{ kind: secret as Kind, name: source.secret }] : []),
  ])
}
