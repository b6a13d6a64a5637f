// AutoscaledPods: which autoscalers control the same pods. Upstream refuses to scale pods that several autoscalers control,
// because their decisions would contradict each other.
import { namespaceOf, splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { matchesLabels, type Selector } from '../../api/selectors/selectors.ts'

export class AutoscaledPods {
  /** The selectors of the autoscalers that have been evaluated, by namespace and key. */
  readonly #selectors = new Map<string, Map<ObjectKey, Selector>>()

  set(key: ObjectKey, selector: Selector): void {
    const { namespace } = splitKey(key)
    const known = this.#selectors.get(namespace) ?? new Map<ObjectKey, Selector>()
    known.set(key, selector)
    this.#selectors.set(namespace, known)
  }

  delete(key: ObjectKey): void {
    const { namespace } = splitKey(key)
    const known = this.#selectors.get(namespace)
    known?.delete(key)
    if (known?.size === 0) this.#selectors.delete(namespace)
  }

  /** The keys of the autoscalers that select any of the pods, which are in one namespace, in alphabetical order. */
  controlling(pods: readonly Pod[]): readonly ObjectKey[] {
    const [first] = pods
    const selectors = first === undefined ? undefined : this.#selectors.get(namespaceOf(first))
    if (selectors === undefined) return []
    return [...selectors]
      .filter(([, selector]) => pods.some(({ metadata }) => matchesLabels(selector, metadata.labels)))
      .map(([key]) => key)
      .toSorted()
  }
}
