// PodUsages: the resource usage of pods, from the API metrics.k8s.io. Autoscalers of a namespace that are evaluated within
// a second share one list of its pods, which costs less than a list for each.
import type { Context } from '../../base/observability/context.ts'
import type { Labels, Selector } from '../../api/selectors/selectors.ts'
import { LabelIndex } from './label-index.ts'

export interface PodUsage {
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly timestamp: string
  readonly window: string
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[]
}

export interface UsageQuery {
  readonly namespace: string
  readonly selector: Selector
  /** The selector as text. */
  readonly podSelector: string
  /** Whether others will ask for pods of this namespace. */
  readonly isShared: boolean
  readonly nowMs: number
}

/** Lists the usage of the pods in a namespace, of all if the selector is empty. */
export type ListUsages = (namespace: string, labelSelector: string, context: Context) => Promise<readonly PodUsage[]>

/** Metrics are older than this anyway. */
const sharedMsMax = 1_000
/** A larger share of other pods would cost more than a list of an autoscaler's own. */
const podsPerAutoscalerMax = 50

/** Whether one list of all pods is cheaper than one for each autoscaler. */
export const isListShared = ({ autoscalers, pods }: { readonly autoscalers: number; readonly pods: number }): boolean =>
  autoscalers > 1 && pods <= autoscalers * podsPerAutoscalerMax

interface SharedList {
  readonly untilMs: number
  /** Undefined if the server does not report labels. */
  readonly usages: Promise<LabelIndex<PodUsage> | undefined>
}

export class PodUsages {
  readonly #list: ListUsages
  readonly #shared = new Map<string, SharedList>()

  constructor(list: ListUsages) {
    this.#list = list
  }

  async read(query: UsageQuery, context: Context): Promise<readonly PodUsage[]> {
    const { namespace, selector, podSelector, isShared } = query
    const index = isShared ? await this.#indexOf(query, context) : undefined
    return index === undefined ? this.#list(namespace, podSelector, context) : index.select(selector)
  }

  #indexOf({ namespace, nowMs }: UsageQuery, context: Context): SharedList['usages'] {
    const known = this.#shared.get(namespace)
    if (known !== undefined && known.untilMs > nowMs) return known.usages
    for (const [name, { untilMs }] of this.#shared) if (untilMs <= nowMs) this.#shared.delete(name)
    const usages = this.#list(namespace, '', context).then(indexed)
    this.#shared.set(namespace, { untilMs: nowMs + sharedMsMax, usages })
    return usages
  }
}

const indexed = (usages: readonly PodUsage[]): LabelIndex<PodUsage> | undefined =>
  usages.length === 0 || usages.some(({ metadata }) => metadata.labels !== undefined)
    ? new LabelIndex(usages)
    : undefined
