// TerminatedContainers: counts the containers of a node that have ended, by exit code and reason.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodSyncState } from '../pod/pod-sync-state.ts'

type PodStatus = Pod['status']

/** Not an interface, because labels are records. */
export type TerminatedLabels = {
  readonly container_type: 'container' | 'init_container' | 'ephemeral_container'
  readonly exit_code: string
  readonly reason: string
}

const types = [
  ['containerStatuses', 'container'],
  ['initContainerStatuses', 'init_container'],
  ['ephemeralContainerStatuses', 'ephemeral_container'],
] as const

export class TerminatedContainers {
  readonly #counts = new Map<string, { readonly labels: TerminatedLabels; count: number }>()

  /** Counts what has ended since the last status of the pod, which a kubelet that has restarted reads from the API. */
  count({ status: known }: Pod, status: PodStatus, state: Pick<PodSyncState, 'countedIds'>): void {
    const ended = terminations(status)
    if (ended.size === 0) return
    const counted = state.countedIds ?? new Set(terminations(known).keys())
    for (const [id, labels] of ended) if (!counted.has(id)) this.#add(labels)
    state.countedIds = new Set(ended.keys())
  }

  samples(): readonly (readonly [TerminatedLabels, number])[] {
    return Array.from(this.#counts.values(), ({ labels, count }) => [labels, count] as const)
  }

  #add(labels: TerminatedLabels): void {
    const key = `${labels.container_type} ${labels.exit_code} ${labels.reason}`
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { labels, count: 1 })
    else known.count++
  }
}

/** The containers that have ended, by id: a restarted one is in the last state. */
function terminations(status: PodStatus): Map<string, TerminatedLabels> {
  const found = new Map<string, TerminatedLabels>()
  for (const [field, container_type] of types)
    for (const { state, lastState } of status[field] ?? [])
      for (const ended of [state?.terminated, lastState?.terminated])
        if (ended?.containerID !== undefined)
          found.set(ended.containerID, {
            container_type,
            exit_code: String(ended.exitCode),
            reason: ended.reason ?? '',
          })
  return found
}
