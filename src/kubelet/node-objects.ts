// What the pods of a node refer to: ConfigMaps, Secrets and tokens of their accounts, asked of the API server and
// remembered for a while, so that a hundred pods with the same ConfigMap ask once.
import type { Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { configMap, type ConfigMap } from '../api/core/v1/config-map.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { secret, type Secret } from '../api/core/v1/secret.ts'
import { serviceAccount } from '../api/core/v1/service-account.ts'
import { namespaceOf, objectKey, type ApiObject } from '../api/object.ts'
import type { Kind } from '../api/kind.ts'
import type { Client } from '../client/client.ts'
import type { VolumeSources } from './volumes/volume-type.ts'

/** A container that starts sees a changed object after at most this long. */
const rememberedMs = 30_000
const rememberedMax = 10_000
/** A token is renewed when this share of its life is over. */
const renewalShare = 0.8

interface Remembered {
  readonly untilMs: number
  readonly value: Promise<unknown>
}

export class NodeObjects implements VolumeSources {
  readonly #client: Client
  readonly #clock: Clock
  readonly #remembered = new Map<string, Remembered>()

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  configMap(namespace: string, name: string, context: Context): Promise<ConfigMap | undefined> {
    return this.#object(configMap, namespace, name, context)
  }

  secret(namespace: string, name: string, context: Context): Promise<Secret | undefined> {
    return this.#object(secret, namespace, name, context)
  }

  token(pod: Pod, audience: string | undefined, expirationSeconds: number, context: Context): Promise<string> {
    const { name, uid } = pod.metadata
    const account = pod.spec.serviceAccountName ?? 'default'
    const key = `token ${uid} ${audience ?? ''} ${expirationSeconds}`
    return this.#ask(key, expirationSeconds * 1000 * renewalShare, async () => {
      const spec = {
        ...(audience === undefined ? {} : { audiences: [audience] }),
        expirationSeconds,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
      }
      const accounts = this.#client.of(serviceAccount)
      const answer = await accounts.act(account, namespaceOf(pod), 'token', { spec }, context)
      return (answer as { readonly status: { readonly token: string } }).status.token
    })
  }

  /** The pod is gone: nobody needs its tokens any more. */
  forget(podUid: string): void {
    for (const key of this.#remembered.keys()) if (key.startsWith(`token ${podUid} `)) this.#remembered.delete(key)
  }

  #object<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    context: Context,
  ): Promise<T | undefined> {
    const key = `${kind.plural} ${objectKey(namespace, name)}`
    return this.#ask(key, rememberedMs, () => this.#client.of(kind).find(name, namespace, context))
  }

  async #ask<T>(key: string, forMs: number, ask: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#remembered.get(key)
    if (known !== undefined && known.untilMs > nowMs) return known.value as Promise<T>
    const value = ask()
    this.#remembered.delete(key)
    if (this.#remembered.size >= rememberedMax) {
      const [oldest] = this.#remembered.keys()
      if (oldest !== undefined) this.#remembered.delete(oldest)
    }
    this.#remembered.set(key, { untilMs: nowMs + forMs, value })
    try {
      const found = await value
      // What is missing now may be there in a moment.
      if (found === undefined) this.#remembered.delete(key)
      return found
    } catch (error) {
      this.#remembered.delete(key)
      throw error
    }
  }
}
