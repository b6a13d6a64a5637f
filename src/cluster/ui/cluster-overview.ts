// clusterOverview: how many nodes, workloads, pods and claims of a cluster are well, and how much of its capacity is used. It is read as
// the user, in slices of time, because a cluster may have tens of thousands of pods.
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { job } from '../../api/batch/v1/job.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { amountOf, amountsFrom, podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { nodeMetrics, type NodeMetrics } from '../../api/metrics/v1beta1/node-metrics.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import type { Client } from '../../client/client.ts'
import type { CapacityShare, ClusterOverview, HealthCount } from '../../ui/page/source/overview.ts'

/** The slice of time is checked after as many objects. */
const stepObjects = 200

type Visit = <T>(objects: readonly T[], visit: (object: T) => void) => Promise<void>

/** With a namespace, without nodes and capacity. */
export async function clusterOverview(
  client: Client,
  namespace: string,
  clock: Clock,
  ctx: Context,
): Promise<ClusterOverview> {
  const each = inSlices(clock, ctx)
  const health: HealthCount[] = []
  const count = async <T extends ApiObject, Input>(
    kind: Kind<T, Input>,
    isWell: (object: T) => boolean,
  ): Promise<readonly T[] | undefined> => {
    const objects = await listed(client, kind, kind.namespaced ? namespace : '', ctx)
    if (objects === undefined) return undefined
    let well = 0
    await each(objects, (object) => (well += Number(isWell(object))))
    health.push({ resource: qualifiedResource(kind), well, total: objects.length })
    return objects
  }
  const nodes = namespace === '' ? await count(node, ({ status }) => hasCondition(status, 'Ready')) : undefined
  await count(deployment, ({ spec, status }) => (status?.availableReplicas ?? 0) >= (spec.replicas ?? 1))
  await count(statefulSet, ({ spec, status }) => (status?.readyReplicas ?? 0) >= (spec.replicas ?? 1))
  await count(daemonSet, ({ status }) => (status?.numberReady ?? 0) >= (status?.desiredNumberScheduled ?? 0))
  await count(job, ({ status }) => !hasCondition(status, 'Failed'))
  const pods = await count(pod, ({ status }) => status?.phase === 'Succeeded' || hasCondition(status, 'Ready'))
  await count(persistentVolumeClaim, ({ status }) => status?.phase === 'Bound')
  if (nodes === undefined || pods === undefined) return { health, capacity: [] }
  const capacity = new Map<string, number>()
  const requested = new Map<string, number>()
  await each(nodes, ({ status }) => addTo(capacity, amountsFrom(status?.allocatable)))
  await each(pods, (one) => {
    if (isRunning(one)) addTo(addTo(requested, podRequests(one)), [['pods', 1]])
  })
  const usage = await listed(client, nodeMetrics, '', ctx)
  return { health, capacity: sharesOf(capacity, requested, usage ?? []) }
}

function inSlices(clock: Clock, { signal }: Context): Visit {
  const slice = new WorkSlice(clock)
  return async (objects, visit) => {
    for (const [at, object] of objects.entries()) {
      if (at % stepObjects === 0 && slice.isUsedUp()) {
        await slice.next()
        signal.throwIfAborted()
      }
      visit(object)
    }
  }
}

/** Undefined if the user may not list the kind, or the server does not serve it. */
async function listed<T extends ApiObject, Input>(
  client: Client,
  kind: Kind<T, Input>,
  namespace: string,
  ctx: Context,
): Promise<readonly T[] | undefined> {
  try {
    return (await client.of(kind).list(namespace === '' ? {} : { namespace }, ctx)).items
  } catch (error) {
    if (error instanceof StatusError && (error.code === 403 || error.code === 404)) return undefined
    throw error
  }
}

const hasCondition = (
  status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } | undefined,
  wanted: string,
): boolean => status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') === true

const isRunning = ({ spec, status }: Pod): boolean =>
  spec.nodeName !== undefined && spec.nodeName !== '' && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

function addTo(sum: Map<string, number>, amounts: Iterable<readonly [string, number]>): Map<string, number> {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + amount)
  return sum
}

function sharesOf(
  capacity: ReadonlyMap<string, number>,
  requested: ReadonlyMap<string, number>,
  usage: readonly NodeMetrics[],
): readonly CapacityShare[] {
  const used = (name: 'cpu' | 'memory'): number | undefined =>
    usage.length === 0 ? undefined : usage.reduce((sum, each) => sum + amountOf(name, each.usage[name]), 0)
  return (['cpu', 'memory', 'pods'] as const).map((name) => ({
    name,
    capacity: capacity.get(name) ?? 0,
    requested: requested.get(name) ?? 0,
    used: name === 'pods' ? undefined : used(name),
  }))
}
