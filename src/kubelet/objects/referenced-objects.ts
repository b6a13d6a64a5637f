// ReferencedObjects: the ConfigMaps, Secrets, claims and service account tokens that pods of the node refer to. Objects
// used by volumes come from watches; others are read from the API server and cached, so that many pods with the same
// ConfigMap cause one request.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { csiDriver, type CSIDriver } from '../../api/storage/v1/csi-driver.ts'
import { volumeAttachment, type VolumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import { runtimeClass } from '../../api/node/v1/runtime-class.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Client } from '../../client/client.ts'
import type { ObjectWatches } from './object-watches.ts'
import type { AccountToken, VolumeSources } from '../volumes/contract/volume-type.ts'

/** A starting container sees a changed object after at most this time. */
const cacheMs = 30_000
const cacheEntriesMax = 10_000
/** A token is renewed after this share of its lifetime, at the latest after a day. */
const renewalShare = 0.8
const renewalMsMax = 24 * 3_600_000

interface CacheEntry {
  readonly untilMs: number
  readonly value: Promise<unknown>
}

export class ReferencedObjects implements VolumeSources {
  readonly #client: Client
  readonly #clock: Clock
  readonly #nodeName: string
  readonly #watches: ObjectWatches
  readonly #cache = new Map<string, CacheEntry>()

  constructor(client: Client, clock: Clock, nodeName: string, watches: ObjectWatches) {
    this.#client = client
    this.#clock = clock
    this.#nodeName = nodeName
    this.#watches = watches
  }

  configMap(namespace: string, name: string, context: Context): Promise<ConfigMap | undefined> {
    return this.#object(configMap, namespace, name, context)
  }

  secret(namespace: string, name: string, context: Context): Promise<Secret | undefined> {
    return this.#object(secret, namespace, name, context)
  }

  /** Claims and volumes are not cached, because a pod waits for their binding. */
  claim(namespace: string, name: string, context: Context): Promise<PersistentVolumeClaim | undefined> {
    return this.#client.of(persistentVolumeClaim).find(name, namespace, context)
  }

  persistentVolume(name: string, context: Context): Promise<PersistentVolume | undefined> {
    return this.#client.of(persistentVolume).find(name, '', context)
  }

  node(context: Context): Promise<Node | undefined> {
    return this.#object(node, '', this.#nodeName, context)
  }

  /** The node without the cache. */
  uncachedNode(context: Context): Promise<Node | undefined> {
    return this.#client.of(node).find(this.#nodeName, '', context)
  }

  /** The handler of a RuntimeClass. */
  async runtimeHandler(name: string, context: Context): Promise<string> {
    const found = await this.#object(runtimeClass, '', name, context)
    if (found === undefined)
      throw new Error(`failed to get sandbox runtime: RuntimeClass ${JSON.stringify(name)} not found`)
    return found.handler
  }

  /** Cached, because it rarely changes and every mount of its volumes reads it. */
  csiDriver(name: string, context: Context): Promise<CSIDriver | undefined> {
    return this.#object(csiDriver, '', name, context)
  }

  /** Not cached, because a pod waits for it. */
  volumeAttachment(name: string, context: Context): Promise<VolumeAttachment | undefined> {
    return this.#client.of(volumeAttachment).find(name, '', context)
  }

  async token(pod: Pod, audience: string | undefined, expirationSeconds: number, context: Context): Promise<string> {
    return (await this.accountToken(pod, audience, expirationSeconds, context)).token
  }

  accountToken(
    pod: Pod,
    audience: string | undefined,
    expirationSeconds: number,
    context: Context,
  ): Promise<AccountToken> {
    const { name, uid } = pod.metadata
    const account = pod.spec.serviceAccountName ?? 'default'
    const key = `token ${uid} ${audience ?? ''} ${expirationSeconds}`
    return this.#cached(key, Math.min(expirationSeconds * 1000 * renewalShare, renewalMsMax), async () => {
      const spec = {
        ...(audience === undefined ? {} : { audiences: [audience] }),
        expirationSeconds,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
      }
      const accounts = this.#client.of(serviceAccount)
      const answer = await accounts.createSubresource(account, namespaceOf(pod), 'token', { spec }, context)
      return (answer as { readonly status: AccountToken }).status
    })
  }

  /** Time until the first of the pod's tokens must be renewed; undefined when it has none. */
  tokenRenewalMs(podUid: string): number | undefined {
    const untils = [...this.#cache].filter(([key]) => isTokenOf(podUid, key)).map(([, { untilMs }]) => untilMs)
    return untils.length === 0 ? undefined : Math.max(0, Math.min(...untils) - this.#clock.monotonicMs())
  }

  /** Removes the pod's tokens from the cache. */
  removePod(podUid: string): void {
    for (const key of this.#cache.keys()) if (isTokenOf(podUid, key)) this.#cache.delete(key)
  }

  #object<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    context: Context,
  ): Promise<T | undefined> {
    const watched = this.#watches.find(kind, namespace, name)
    if (watched !== undefined) return Promise.resolve(watched)
    const key = `${kind.plural} ${objectKey(namespace, name)}`
    return this.#cached(key, cacheMs, () => this.#client.of(kind).find(name, namespace, context))
  }

  async #cached<T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#cache.get(key)
    if (known !== undefined && known.untilMs > nowMs) return known.value as Promise<T>
    const value = load()
    this.#cache.delete(key)
    if (this.#cache.size >= cacheEntriesMax) {
      const [oldest] = this.#cache.keys()
      if (oldest !== undefined) this.#cache.delete(oldest)
    }
    this.#cache.set(key, { untilMs: nowMs + ttlMs, value })
    try {
      const found = await value
      // A missing object is not cached, because it may be created at any time.
      if (found === undefined) this.#cache.delete(key)
      return found
    } catch (error) {
      this.#cache.delete(key)
      throw error
    }
  }
}

const isTokenOf = (podUid: string, key: string): boolean => key.startsWith(`token ${podUid} `)
