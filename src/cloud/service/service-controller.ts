// The service controller: every Service of type LoadBalancer has a load balancer of the cloud, which sends to the current
// nodes; its addresses are in the status. A finalizer keeps the Service until its load balancer is deleted.
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { isBeingDeleted, keyOf, namespaceOf } from '../../api/meta/object.ts'
import type { Controller, ReconcileController, ReconcileTools } from '../../controllers/runtime/controller.ts'
import { hasFinalizer } from '../../api/meta/finalizers.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { CloudLoadBalancers } from '../provider/cloud-provider.ts'
import { balancedNodes, changesBalancers } from './balanced-nodes.ts'
import { changeOf, cleanUpFinalizer, needsCleanUp, needsLoadBalancer } from './service-changes.ts'

interface Balanced {
  /** The Service that was last synced, and the names of its load balancer's nodes. */
  readonly service: Service
  readonly nodes: string
  /** Whether the last sync failed, so that the next one is complete. */
  readonly hasFailed: boolean
}

/** By key. It is lost on a restart, after which every load balancer is ensured again. */
type State = Map<string, Balanced>
type Tools = ReconcileTools<State>

/** As upstream: a cloud that fails is not called more often than every five seconds. */
const cloudBackoff = { initialMs: 5_000, maxMs: 300_000 }

export function serviceController(balancers: CloudLoadBalancers): Controller {
  const definition: ReconcileController<State> = {
    type: 'reconcile',
    name: 'service',
    account: 'service-controller',
    reconciles: service,
    watches: [service, node],
    backoff: cloudBackoff,
    state: () => new Map(),
    enqueues(kind, { key, before, now }, { all }) {
      if (kind === node) {
        if (!changesBalancers(before as Node | undefined, now as Node | undefined)) return []
        return [...all(service)].filter(needsLoadBalancer).map(keyOf)
      }
      return isConcerned(before as Service | undefined, now as Service | undefined) ? [key] : []
    },
    async reconcile(key, tools, context) {
      const { cached, state } = tools
      const found = cached(service, key)
      const synced = state.get(key)
      const isReplaced = synced !== undefined && synced.service.metadata.uid !== found?.metadata.uid
      if (isReplaced) {
        await deleteOrphan(synced.service, balancers, tools, context)
        state.delete(key)
      }
      if (found !== undefined) await sync(found, balancers, tools, context)
      return undefined
    },
  }
  return definition
}

const isConcerned = (before: Service | undefined, now: Service | undefined): boolean => {
  if (now === undefined) return before !== undefined && needsLoadBalancer(before)
  if (needsCleanUp(now)) return true
  return before === undefined ? needsLoadBalancer(now) : changeOf(before, now) !== undefined
}

/** The load balancer of a Service that was deleted although it had the finalizer. */
async function deleteOrphan(
  gone: Service,
  balancers: CloudLoadBalancers,
  { recordEvent }: Tools,
  context: Context,
): Promise<void> {
  if (!needsLoadBalancer(gone)) return
  recordEvent(gone, { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' }, context)
  try {
    await balancers.delete(gone, context)
  } catch (error) {
    const message = `Error deleting load balancer: ${errorText(error)}`
    recordEvent(gone, { type: 'Warning', reason: 'DeleteLoadBalancerFailed', message }, context)
    throw error
  }
  recordEvent(gone, { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' }, context)
}

async function sync(found: Service, balancers: CloudLoadBalancers, tools: Tools, context: Context): Promise<void> {
  const { state, recordEvent, all } = tools
  const key = keyOf(found)
  const synced = state.get(key)
  const change = synced === undefined ? undefined : changeOf(synced.service, found)
  if (change?.event !== undefined) recordEvent(found, change.event, context)
  const mustCleanUp = !needsLoadBalancer(found) || needsCleanUp(found)
  const nodes = balancedNodes(all(node))
  const names = nodes.map(({ metadata }) => metadata.name).join(', ')
  if (!mustCleanUp && synced !== undefined && change === undefined && !synced.hasFailed) {
    if (synced.nodes === names) return
    await updateNodes(found, nodes, balancers, tools, context)
    state.set(key, { service: found, nodes: names, hasFailed: false })
    return
  }
  try {
    if (mustCleanUp) await cleanUp(found, balancers, tools, context)
    else await ensure(found, nodes, balancers, tools, context)
  } catch (error) {
    state.set(key, { service: found, nodes: names, hasFailed: true })
    const message = `Error syncing load balancer: ${errorText(error)}`
    recordEvent(found, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message }, context)
    throw error
  }
  if (mustCleanUp) state.delete(key)
  else state.set(key, { service: found, nodes: names, hasFailed: false })
}

async function ensure(
  found: Service,
  nodes: readonly Node[],
  balancers: CloudLoadBalancers,
  tools: Tools,
  context: Context,
): Promise<void> {
  const { recordEvent } = tools
  recordEvent(found, { type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' }, context)
  const kept = hasFinalizer(found, cleanUpFinalizer)
    ? found
    : await attempt('failed to add load balancer cleanup finalizer', () =>
        patchFinalizers(found, added, tools, context),
      )
  if (nodes.length === 0) recordEvent(found, noNodes, context)
  const ingress = await attempt('failed to ensure load balancer', () => balancers.ensure(kept, nodes, context))
  recordEvent(found, { type: 'Normal', reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' }, context)
  await setIngress(kept, ingress, tools, context)
}

async function cleanUp(found: Service, balancers: CloudLoadBalancers, tools: Tools, context: Context): Promise<void> {
  const { recordEvent } = tools
  const existing = await attempt('failed to check if load balancer exists before cleanup', () =>
    balancers.find(found, context),
  )
  if (existing !== undefined) {
    recordEvent(found, { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' }, context)
    await attempt('failed to delete load balancer', () => balancers.delete(found, context))
  }
  const released = hasFinalizer(found, cleanUpFinalizer)
    ? await attempt('failed to remove load balancer cleanup finalizer', () =>
        patchFinalizers(found, removed, tools, context),
      )
    : found
  recordEvent(found, { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' }, context)
  const isGone = isBeingDeleted(released) && (released.metadata.finalizers ?? []).length === 0
  if (!isGone) await setIngress(released, [], tools, context)
}

const noNodes = {
  type: 'Warning',
  reason: 'UnAvailableLoadBalancer',
  message: 'There are no available nodes for LoadBalancer',
} as const

async function updateNodes(
  found: Service,
  nodes: readonly Node[],
  balancers: CloudLoadBalancers,
  { recordEvent, state }: Tools,
  context: Context,
): Promise<void> {
  try {
    await balancers.updateNodes(found, nodes, context)
  } catch (error) {
    context.signal.throwIfAborted()
    // A load balancer that no longer exists is not updated.
    const isGone = await balancers.find(found, context).then(
      (existing) => existing === undefined,
      () => false,
    )
    if (isGone) return
    const names = nodes.map(({ metadata }) => metadata.name)
    const message = `Error updating load balancer with new hosts [${names.join(' ')}]: ${errorText(error)}`
    recordEvent(found, { type: 'Warning', reason: 'UpdateLoadBalancerFailed', message }, context)
    // The next sync is complete, as upstream's: it ensures the load balancer.
    state.set(keyOf(found), { service: found, nodes: '', hasFailed: true })
    throw error
  }
  const updated = {
    type: 'Normal',
    reason: 'UpdatedLoadBalancer',
    message: 'Updated load balancer with new hosts',
  } as const
  recordEvent(found, nodes.length === 0 ? noNodes : updated, context)
}

type FinalizerPatch =
  | { readonly finalizers: readonly string[] }
  | { readonly '$deleteFromPrimitiveList/finalizers': string[] }
const added: FinalizerPatch = { finalizers: [cleanUpFinalizer] }
const removed: FinalizerPatch = { '$deleteFromPrimitiveList/finalizers': [cleanUpFinalizer] }

/** Finalizers that others write at the same time are kept. As upstream, the controller may write only the status. */
const patchFinalizers = (
  { metadata: { name, uid, namespace = '' } }: Service,
  patch: FinalizerPatch,
  { client }: Tools,
  context: Context,
): Promise<Service> =>
  client.of(service).patch(name, namespace, { metadata: { uid, ...patch } }, 'strategic', context, 'status')

async function setIngress(
  found: Service,
  ingress: readonly LoadBalancerIngress[],
  { client }: Tools,
  context: Context,
): Promise<void> {
  if (equalValues(found.status.loadBalancer.ingress ?? [], ingress)) return
  const status = { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } }
  await attempt('failed to update load balancer status', async () => {
    try {
      await client.of(service).patch(found.metadata.name, namespaceOf(found), { status }, 'merge', context, 'status')
    } catch (error) {
      // The Service disappears when its last finalizer is removed.
      if (!hasReason(error, 'NotFound')) throw error
    }
  })
}

/** Names what failed in the error. */
async function attempt<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`${what}: ${errorText(error)}`, { cause: error })
  }
}
