// The route controller: the cloud's network has a route to the pod ranges of every node; the condition NetworkUnavailable
// of a node says whether it has.
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Controller, ReconcileController, ReconcileTools } from '../../controllers/runtime/controller.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { CloudRoutes } from '../provider/cloud-provider.ts'
import { routePlan } from './route-plan.ts'

type Tools = ReconcileTools<undefined>

/** Upstream's --route-reconciliation-period. */
const routesEveryMs = 10_000
/** All routes are compared with all nodes in one run. */
const allRoutes = 'routes'

export function routeController(routes: CloudRoutes): Controller {
  const definition: ReconcileController<undefined> = {
    type: 'reconcile',
    name: 'route',
    account: 'route-controller',
    component: 'route_controller',
    watches: [node],
    backoff: { initialMs: routesEveryMs, maxMs: routesEveryMs },
    enqueues: (_, { before, now }) =>
      equalValues((before as Node | undefined)?.spec.podCIDRs, (now as Node | undefined)?.spec.podCIDRs)
        ? []
        : [allRoutes],
    async reconcile(_, tools, context) {
      const nodes = [...tools.all(node)]
      const cidrs = (tools.settings.nodeRanges?.ranges ?? []).map(({ cidr }) => cidr)
      const plan = routePlan(nodes, await routes.list(context), cidrs)
      for (const route of plan.deletes) await routes.delete(route, context)
      const failed = new Set<string>()
      for (const { route, node: target } of plan.creates) {
        const startedMs = tools.nowMs
        try {
          await routes.create(route, target.metadata.uid, context)
        } catch (error) {
          context.signal.throwIfAborted()
          failed.add(target.metadata.name)
          const seconds = (tools.nowMs - startedMs) / 1_000
          const message = `Could not create route ${target.metadata.uid} ${route.destinationCidr} for node ${target.metadata.name} after ${seconds}s: ${errorText(error)}`
          tools.recordEvent(target, { type: 'Warning', reason: 'FailedToCreateRoute', message }, context)
        }
      }
      for (const each of nodes)
        if ((each.spec.podCIDRs ?? []).length > 0)
          await setCondition(each, !failed.has(each.metadata.name), tools, context)
      return routesEveryMs
    },
  }
  return definition
}

const conditions = {
  available: { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' },
  unavailable: { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' },
}

async function setCondition(
  found: Node,
  hasRoutes: boolean,
  { client, nowMs }: Tools,
  context: Context,
): Promise<void> {
  const wanted = hasRoutes ? conditions.available : conditions.unavailable
  const known = (found.status.conditions ?? []).find(({ type }) => type === 'NetworkUnavailable')
  if (known?.status === wanted.status && known.reason === wanted.reason) return
  const now = rfc3339(nowMs)
  const condition = { type: 'NetworkUnavailable', ...wanted, lastHeartbeatTime: now, lastTransitionTime: now }
  try {
    await client
      .of(node)
      .patch(found.metadata.name, '', { status: { conditions: [condition] } }, 'strategic', context, 'status')
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}
