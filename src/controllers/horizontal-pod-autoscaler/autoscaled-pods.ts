// AutoscaledPods: the pods of the namespaces that have autoscalers, and which autoscalers control the same ones. Upstream
// refuses to scale pods that several autoscalers control, because their decisions would contradict each other.
import { namespaceOf, splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { matchesLabels, type Selector } from '../../api/selectors/selectors.ts'
import { LabelIndex, pairsOf, requiredPair } from './label-index.ts'

/** What an autoscaler selects. */
export interface Selected {
  readonly pods: readonly Pod[]
  /** The keys of the autoscalers that select any of the pods, this one included, in alphabetical order. */
  readonly controllers: readonly ObjectKey[]
}

interface Home {
  readonly pods: LabelIndex<Pod>
  /** The selectors of the autoscalers that have been evaluated. */
  readonly selectors: Map<ObjectKey, Selector>
  /** What each of them selects, while no pod and no selector of the namespace changes. */
  readonly selected: Map<ObjectKey, Selected>
  /** Their keys by a label that they require; '' for those that require none. */
  readonly byPair: Map<string, Set<ObjectKey>>
}

export class AutoscaledPods {
  readonly #homes = new Map<string, Home>()

  /** The number of autoscalers and of pods in a namespace. */
  sizeOf(namespace: string): { readonly autoscalers: number; readonly pods: number } {
    const home = this.#homes.get(namespace)
    return { autoscalers: home?.selectors.size ?? 0, pods: home?.pods.size ?? 0 }
  }

  /** What the autoscaler selects. `podsIn` lists the pods of a namespace when its first autoscaler is evaluated. */
  select(key: ObjectKey, selector: Selector, podsIn: (namespace: string) => readonly Pod[]): Selected {
    const { namespace } = splitKey(key)
    let home = this.#homes.get(namespace)
    if (home === undefined) {
      const pods = new LabelIndex(podsIn(namespace))
      home = { pods, selectors: new Map(), selected: new Map(), byPair: new Map() }
      this.#homes.set(namespace, home)
    }
    if (home.selectors.get(key) !== selector) {
      removeSelector(home, key)
      home.selectors.set(key, selector)
      const pair = requiredPair(selector) ?? ''
      home.byPair.set(pair, (home.byPair.get(pair) ?? new Set()).add(key))
    }
    const known = home.selected.get(key)
    if (known !== undefined) return known
    const pods = home.pods.select(selector)
    const selected = { pods, controllers: controllersOf(pods, home) }
    home.selected.set(key, selected)
    return selected
  }

  delete(key: ObjectKey): void {
    const { namespace } = splitKey(key)
    const home = this.#homes.get(namespace)
    if (home === undefined) return
    removeSelector(home, key)
    if (home.selectors.size === 0) this.#homes.delete(namespace)
  }

  podChanged(before: Pod | undefined, now: Pod | undefined): void {
    const changed = now ?? before
    const home = changed === undefined ? undefined : this.#homes.get(namespaceOf(changed))
    home?.selected.clear()
    if (now !== undefined) home?.pods.set(now)
    else if (before !== undefined) home?.pods.delete(before.metadata.name)
  }
}

function controllersOf(pods: readonly Pod[], { selectors, byPair }: Home): readonly ObjectKey[] {
  const found = new Set<ObjectKey>()
  for (const { metadata } of pods)
    for (const pair of ['', ...pairsOf(metadata.labels)])
      for (const key of byPair.get(pair) ?? [])
        if (!found.has(key) && matchesLabels(selectors.get(key) ?? [], metadata.labels)) found.add(key)
  return [...found].toSorted()
}

function removeSelector({ selectors, selected, byPair }: Home, key: ObjectKey): void {
  selected.clear()
  const known = selectors.get(key)
  if (known === undefined) return
  selectors.delete(key)
  const pair = requiredPair(known) ?? ''
  const keys = byPair.get(pair)
  keys?.delete(key)
  if (keys?.size === 0) byPair.delete(pair)
}
