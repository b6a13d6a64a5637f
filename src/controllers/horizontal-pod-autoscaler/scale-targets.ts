// ScaleTargets: reads and writes the scale of any kind that has one. Kinds are found by discovery, whose result is used for
// half a minute, as upstream's. The scale of a built-in kind is first taken from the informers.
import { LruMap } from '../../base/collections/lru-map.ts'
import type { Context } from '../../base/observability/context.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { replicationController } from '../../api/core/v1/workload/replication-controller.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { CrossVersionObjectReference } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import type { Scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind, Scaling } from '../../api/kind/kind.ts'
import { objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import type { Client } from '../../client/client.ts'
import { discover } from '../../client/discovery.ts'

const discoveredMsMax = 30_000
const selectorsMax = 10_000

/** The built-in kinds that have a scale. */
export const scaledKinds: readonly Kind[] = [deployment, replicaSet, replicationController, statefulSet]

/** What an autoscaler has to know of its target. */
export interface ScaleTarget {
  readonly resourceVersion: string
  readonly replicas: number
  readonly statusReplicas: number
  /** Undefined when its scale has no selector. */
  readonly selector: Selector | undefined
  readonly selectorText: string
}

/** A target whose scale was read, so that it can be written. */
export interface ScaleRead extends ScaleTarget {
  readonly kind: Kind
  readonly scale: ApiObject & Scale
}

export class ScaleTargets {
  /** The served kinds by group and name, the preferred version first. */
  #served: ReadonlyMap<string, readonly Kind[]> = new Map()
  #untilMs = 0
  /** Parsed selectors by their texts. */
  readonly #selectors = new LruMap<Selector>(selectorsMax)
  readonly #known = new WeakMap<ApiObject, ScaleTarget>()

  /** The target as the informers have it. Undefined if they do not have it or the kinds must be discovered first. */
  cached(
    { apiVersion = '', kind, name }: CrossVersionObjectReference,
    namespace: string,
    objectOf: (kind: Kind, key: ObjectKey) => ApiObject | undefined,
    nowMs: number,
  ): ScaleTarget | undefined {
    const served = nowMs < this.#untilMs ? this.#served.get(`${groupOf(apiVersion)} ${kind}`)?.[0] : undefined
    if (served?.scale === undefined || !scaledKinds.includes(served)) return undefined
    const object = objectOf(served, objectKey(namespace, name))
    return object === undefined ? undefined : (this.#known.get(object) ?? this.#remember(object, served.scale))
  }

  #remember(object: ApiObject, scaling: Scaling<ApiObject>): ScaleTarget {
    const target = this.#target({
      resourceVersion: object.metadata.resourceVersion,
      replicas: scaling.replicas(object),
      statusReplicas: scaling.statusReplicas(object),
      selectorText: scaling.selector(object),
    })
    this.#known.set(object, target)
    return target
  }

  /** The kinds with this name in a group, the preferred version first. Throws when there is none. */
  async kindsOf(apiVersion: string, kind: string, client: Client, nowMs: number, context: Context) {
    if (nowMs >= this.#untilMs) {
      const { kinds } = await discover(client, context)
      this.#served = Map.groupBy(
        kinds.map((served) => served.kind),
        (each) => `${each.group} ${each.kind}`,
      )
      this.#untilMs = nowMs + discoveredMsMax
    }
    const group = groupOf(apiVersion)
    const found = this.#served.get(`${group} ${kind}`)
    if (found === undefined) throw new Error(`no matches for kind "${kind}" in group "${group}"`)
    return found
  }

  /** The target as the API server has it, or why its scale cannot be read. */
  async read(
    { apiVersion = '', kind, name }: CrossVersionObjectReference,
    namespace: string,
    client: Client,
    nowMs: number,
    context: Context,
  ): Promise<ScaleRead | string> {
    let firstError: unknown
    try {
      for (const each of await this.kindsOf(apiVersion, kind, client, nowMs, context))
        try {
          return this.#read(each, await client.of(each).getSubresource(name, namespace, 'scale', context))
        } catch (error) {
          firstError ??= error
        }
    } catch (error) {
      firstError ??= error
    }
    context.signal.throwIfAborted()
    return messageOf(firstError)
  }

  #read(kind: Kind, object: unknown): ScaleRead {
    const scale = object as ApiObject & Scale
    const { selector: selectorText = '', replicas: statusReplicas } = scale.status ?? { replicas: 0 }
    const { resourceVersion } = scale.metadata
    const target = this.#target({ resourceVersion, replicas: scale.spec?.replicas ?? 0, statusReplicas, selectorText })
    return { ...target, kind, scale }
  }

  #target(target: Omit<ScaleTarget, 'selector'>): ScaleTarget {
    const { selectorText } = target
    const parse = () => parsedSelector(selectorText)
    return { ...target, selector: selectorText === '' ? undefined : this.#selectors.getOrInsert(selectorText, parse) }
  }
}

export async function writeScale(
  { kind, scale }: ScaleRead,
  replicas: number,
  client: Client,
  context: Context,
): Promise<void> {
  const { metadata } = scale
  const body = { ...scale, metadata, spec: { ...scale.spec, replicas } }
  await client.of(kind).updateSubresource(body, 'scale', context)
}

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function parsedSelector(text: string): Selector {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new Error(
      'received an object from a /scale endpoint which was not convertible to autoscaling Scale: ' +
        `failed to parse target selector: couldn't parse the selector string "${text}": ${error.message}`,
      { cause: error },
    )
  }
}
