// The pods of the map: on which node a pod is, and whether it is well.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { ClusterObject } from '../source/source.ts'

export const podStates = ['failing', 'starting', 'ready', 'ended'] as const
export type PodState = (typeof podStates)[number]

export interface PodMark {
  readonly namespace: string
  readonly name: string
  readonly state: PodState
}

interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  readonly containerStatuses?: readonly {
    readonly state?: { readonly waiting?: { readonly reason?: string }; readonly terminated?: { exitCode?: number } }
  }[]
}

/** Reasons for which a container waits that are no failure. */
const usualReasons: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

export function podStateOf({ status, metadata }: ClusterObject): PodState {
  const { phase, conditions = [], containerStatuses = [] } = (status ?? {}) as PodStatus
  const is = (type: string, value: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === value)
  if (phase === 'Succeeded') return 'ended'
  const isFailing = containerStatuses.some(
    ({ state }) => state?.waiting !== undefined && !usualReasons.has(state.waiting.reason ?? 'ContainerCreating'),
  )
  if (phase === 'Failed' || isFailing || (phase === 'Pending' && is('PodScheduled', 'False'))) return 'failing'
  return is('Ready', 'True') && metadata.deletionTimestamp === undefined ? 'ready' : 'starting'
}

const states = new WeakMap<ClusterObject, PodState>()

/** The pods of each node, those that fail first; the key of pods without a node is empty. */
export function podsByNode(pods: Iterable<ClusterObject>): Map<string, PodMark[]> {
  const nodes = new Map<string, PodMark[]>()
  for (const pod of pods) {
    const state = states.get(pod) ?? podStateOf(pod)
    states.set(pod, state)
    const { namespace = '', name } = pod.metadata
    const nodeName = (pod.spec as { nodeName?: string } | undefined)?.nodeName ?? ''
    getOrInsert(nodes, nodeName, () => []).push({ namespace, name, state })
  }
  for (const marks of nodes.values())
    if (marks.some(({ state }) => state !== 'ready'))
      marks.sort((a, b) => podStates.indexOf(a.state) - podStates.indexOf(b.state))
  return nodes
}
