// ScaleTargets: reads and writes the scale of any kind that has one. Kinds are found by discovery, whose result is used for
// half a minute, as upstream's.
import { LruMap } from '../../base/collections/lru-map.ts'
import type { Context } from '../../base/observability/context.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { CrossVersionObjectReference } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import type { Scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import type { Client } from '../../client/client.ts'
import { discover } from '../../client/discovery.ts'

const discoveredMsMax = 30_000
const selectorsMax = 10_000

/** A target that can be scaled. */
export interface ScaleTarget {
  readonly kind: Kind
  readonly scale: ApiObject & Scale
  readonly replicas: number
  readonly statusReplicas: number
  /** Undefined when its scale has no selector. */
  readonly selector: Selector | undefined
  readonly selectorText: string
}

export class ScaleTargets {
  /** The served kinds by group and name, the preferred version first. */
  #served: ReadonlyMap<string, readonly Kind[]> = new Map()
  #untilMs = 0
  /** Parsed selectors by their texts. */
  readonly #selectors = new LruMap<Selector>(selectorsMax)

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

  /** The target, or why its scale cannot be read. */
  async read(
    { apiVersion = '', kind, name }: CrossVersionObjectReference,
    namespace: string,
    client: Client,
    nowMs: number,
    context: Context,
  ): Promise<ScaleTarget | string> {
    let firstError: unknown
    try {
      for (const each of await this.kindsOf(apiVersion, kind, client, nowMs, context))
        try {
          return this.#target(each, await client.of(each).getSubresource(name, namespace, 'scale', context))
        } catch (error) {
          firstError ??= error
        }
    } catch (error) {
      firstError ??= error
    }
    context.signal.throwIfAborted()
    return messageOf(firstError)
  }

  #target(kind: Kind, object: unknown): ScaleTarget {
    const scale = object as ApiObject & Scale
    const { selector: selectorText = '', replicas: statusReplicas } = scale.status ?? { replicas: 0 }
    const parse = () => parsedSelector(selectorText)
    return {
      ...{ kind, scale, statusReplicas, selectorText },
      replicas: scale.spec?.replicas ?? 0,
      selector: selectorText === '' ? undefined : this.#selectors.getOrInsert(selectorText, parse),
    }
  }
}

export async function writeScale(
  { kind, scale }: ScaleTarget,
  replicas: number,
  client: Client,
  context: Context,
): Promise<void> {
  const { metadata } = scale
  const body = { ...scale, metadata, spec: { ...scale.spec, replicas } }
  await client.of(kind).updateSubresource(body, 'scale', context)
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '')

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
