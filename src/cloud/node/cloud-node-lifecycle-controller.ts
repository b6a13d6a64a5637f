// The cloud node lifecycle controller: deletes nodes whose instance no longer exists, and taints those whose instance is
// shut down. It only asks the cloud about nodes that are not ready.
import type { Context } from '../../base/observability/context.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { isNodeReady, node, type Node, type Taint } from '../../api/core/v1/node/node.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { Controller, ReconcileController, ReconcileTools } from '../../controllers/runtime/controller.ts'
import type { CloudInstance, CloudInstances } from '../provider/cloud-provider.ts'

type Tools = ReconcileTools<undefined>

export const shutdownTaint = 'node.cloudprovider.kubernetes.io/shutdown'

/** Upstream's --node-monitor-period. */
const monitorEveryMs = 5_000

export type NodeAction = 'none' | 'delete' | 'taint' | 'untaint'

/** A node is deleted because its instance is missing, never because the cloud fails: that throws before. */
export function nodeAction(found: Node, instance: CloudInstance | undefined): NodeAction {
  const isTainted = (found.spec.taints ?? []).some(({ key }) => key === shutdownTaint)
  if (isNodeReady(found)) return isTainted ? 'untaint' : 'none'
  if (instance === undefined) return isBeingDeleted(found) ? 'none' : 'delete'
  return instance.isShutDown && !isTainted ? 'taint' : 'none'
}

export function cloudNodeLifecycleController(instances: CloudInstances): Controller {
  const definition: ReconcileController<undefined> = {
    type: 'reconcile',
    name: 'cloud-node-lifecycle',
    account: 'node-controller',
    component: 'cloud-node-lifecycle-controller',
    reconciles: node,
    watches: [node],
    backoff: { initialMs: monitorEveryMs, maxMs: monitorEveryMs },
    enqueues: (_, { key, before, now }) =>
      now !== undefined && (before === undefined || isNodeReady(before as Node) !== isNodeReady(now as Node))
        ? [key]
        : [],
    async reconcile(key, tools, context) {
      const found = tools.cached(node, key)
      if (found === undefined) return undefined
      const isReady = isNodeReady(found)
      const instance = isReady ? undefined : await instances.find(found, context)
      await act(found, nodeAction(found, instance), tools, context)
      return isReady ? undefined : monitorEveryMs
    },
  }
  return definition
}

async function act(found: Node, action: NodeAction, tools: Tools, context: Context): Promise<void> {
  const { name, uid } = found.metadata
  const others = (found.spec.taints ?? []).filter(({ key }) => key !== shutdownTaint)
  switch (action) {
    case 'none':
      return
    case 'delete': {
      const message = `Deleting node ${name} because it does not exist in the cloud provider`
      tools.recordEvent(found, { type: 'Normal', reason: 'DeletingNode', message }, context)
      return tools.client.of(node).delete(name, '', { uid }, context)
    }
    case 'taint':
      return setTaints(
        found,
        [...others, { key: shutdownTaint, effect: 'NoSchedule', timeAdded: rfc3339(tools.nowMs) }],
        tools,
        context,
      )
    case 'untaint':
      return setTaints(found, others, tools, context)
    default:
      return action satisfies never
  }
}

async function setTaints(found: Node, taints: readonly Taint[], { client }: Tools, context: Context): Promise<void> {
  await client.of(node).update({ ...found, spec: { ...found.spec, taints } }, context)
}
