// What the overview of a cluster shows: how many objects are well, what is wrong, and how much of the capacity is used.
import type { ClusterProblems } from '../../../flows/why/cluster-problems.ts'

/** How many objects of a kind are as they should be. */
export interface HealthCount {
  /** The id of the resource: `deployments.apps`. */
  readonly resource: string
  readonly well: number
  readonly total: number
}

/** Millicores of CPU, bytes of memory, or a number of pods. */
export interface CapacityShare {
  readonly name: 'cpu' | 'memory' | 'pods'
  readonly capacity: number
  /** The sum of the requests of pods that have a node. */
  readonly requested: number
  /** Undefined where no metrics API measures it. */
  readonly used: number | undefined
}

export interface ClusterOverview {
  /** Without the kinds that the user may not list. */
  readonly health: readonly HealthCount[]
  /** Of all nodes, if the user may list nodes and all pods. */
  readonly capacity: readonly CapacityShare[]
}

export type { ClusterProblem, ClusterProblems } from '../../../flows/why/cluster-problems.ts'

/** How long the server needed. */
export interface Timed {
  readonly tookMs: number
}

/** The source of the overview of a running cluster. */
export interface OverviewSource {
  overview(namespace: string, signal: AbortSignal): Promise<ClusterOverview & Timed>
  problems(namespace: string, signal: AbortSignal): Promise<ClusterProblems & Timed>
}
