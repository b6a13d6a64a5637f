// uiExplanations: the sentences of `coxswain why` and the graph of `coxswain flow` for the web UI. Objects are read as the
// user of the request; what that user may not read is treated as absent.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { badRequest } from '../../api/errors/status-error.ts'
import type { User } from '../../apiserver/request/request.ts'
import type { UiExplanations } from '../../apiserver/ui/ui-api.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { context } from '../../base/observability/context.ts'
import { runInSlices, WorkSlice } from '../../base/work/work-slice.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/client.ts'
import { flowTrees, type FlowNode } from '../../flows/flow-graph.ts'
import { clusterProblems } from '../../flows/why/cluster-problems.ts'
import type { Reach } from '../../flows/reach/explain-path.ts'
import { parseReachTarget, targetForms } from '../../flows/reach/reach-target.ts'
import { reach } from '../../flows/reach/reach.ts'
import { ReachTargetError } from '../../flows/reach/traffic-path.ts'
import { readerOf, type ClusterReader } from '../../flows/why/explainer/cluster-reader.ts'
import { why } from '../../flows/why/why.ts'
import { clusterOverview } from './cluster-overview.ts'

export interface UiExplanationDeps {
  readonly clientAs: (user: User) => Client
  readonly clock: Clock
}

export const uiExplanations = ({ clientAs, clock }: UiExplanationDeps): UiExplanations => ({
  async why({ kind, namespace, name }, events, user, signal) {
    const client = clientAs(user)
    const ctx = context(signal)
    const object = await client.of(kind).find(name, namespace, ctx)
    if (object === undefined) return undefined
    const around = readerOf(client, ctx, { nowMs: clock.nowMs() })
    return why(kind, object, around, events)
  },
  reach: ({ namespace, name }, target, user, signal) => {
    const client = clientAs(user)
    const cluster = readerOf(client, context(signal), { nowMs: clock.nowMs() })
    return reachOf(client, { namespace, name }, target, cluster, signal)
  },
  overview: (namespace, user, signal) => clusterOverview(clientAs(user), namespace, clock, context(signal)),
  problems: (namespace, user, signal) => {
    const reader = readerOf(clientAs(user), context(signal), { nowMs: clock.nowMs() })
    return clusterProblems(reader, namespace, [], pauseBetween(clock, signal))
  },
  flow: (subject, events, signal) =>
    thenMaybe(
      runInSlices((slice) => flowTrees(events, subject, slice), clock, signal),
      (roots) => ({ roots: newest(roots) }),
    ),
})

/** Whether a pod reaches what a text names; undefined if the pod does not exist. */
export async function reachOf(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  text: string,
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<Reach | undefined> {
  const target = parseReachTarget(text, namespace)
  if (target === undefined) throw badRequest(`target: must be ${targetForms}`)
  const source = await client.of(pod).find(name, namespace, context(signal))
  if (source === undefined) return undefined
  try {
    return await reach(source, target, cluster)
  } catch (error) {
    throw error instanceof ReachTargetError ? badRequest(error.message) : error
  }
}

/** Other requests are handled between two objects when a slice of time is used up. */
function pauseBetween(clock: Clock, signal: AbortSignal): () => MaybePromise<void> {
  const slice = new WorkSlice(clock)
  return () => {
    signal.throwIfAborted()
    return slice.isUsedUp() ? slice.next() : undefined
  }
}

/** The newest trees with at most this many events, so that the response is limited. */
const shownEventsMax = 10_000

function newest(roots: readonly FlowNode[]): readonly FlowNode[] {
  const sizeOf = ({ children }: FlowNode): number => children.reduce((sum, child) => sum + sizeOf(child), 1)
  let events = 0
  const first = roots.findLastIndex((root) => (events += sizeOf(root)) > shownEventsMax)
  return roots.slice(first + 1)
}
