// The cloud node controller: initializes nodes that register with the taint `uninitialized`, and keeps their addresses
// current.
import type { Context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import type { Controller, ReconcileController, ReconcileTools } from '../../controllers/runtime/controller.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { CloudInstance, CloudInstances } from '../provider/cloud-provider.ts'
import { correctedLabels, initializedNode, instanceAddresses, isUninitialized } from './instance-labels.ts'

type Tools = ReconcileTools<undefined>

/** Upstream's --node-status-update-frequency. */
const addressesEveryMs = 300_000

export function cloudNodeController(instances: CloudInstances): Controller {
  const definition: ReconcileController<undefined> = {
    type: 'reconcile',
    name: 'cloud-node',
    account: 'node-controller',
    component: 'cloud-node-controller',
    reconciles: node,
    watches: [node],
    // Heartbeats do not concern the cloud: the addresses of initialized nodes are read periodically.
    enqueues: (_, { key, before, now }) =>
      now !== undefined && (before === undefined || isConcerned(before as Node, now as Node)) ? [key] : [],
    async reconcile(key, tools, context) {
      const found = tools.cached(node, key)
      if (found === undefined) return undefined
      if (isUninitialized(found)) return initialize(found, instances, tools, context)
      const labels = correctedLabels(found)
      if (labels !== undefined) await patch(found, { metadata: { labels } }, tools, context)
      const instance = await instances.find(found, context)
      if (instance !== undefined) await setAddresses(found, instance, tools, context)
      return addressesEveryMs
    },
  }
  return definition
}

/** A node that was registered again is new to the cloud; labels with older names follow the stable ones. */
const isConcerned = (before: Node, now: Node): boolean =>
  isUninitialized(now) ? !isUninitialized(before) : correctedLabels(now) !== undefined

async function initialize(
  found: Node,
  instances: CloudInstances,
  tools: Tools,
  context: Context,
): Promise<number | undefined> {
  const { name } = found.metadata
  const instance = await instances.find(found, context)
  if (instance === undefined) throw new Error(`failed to get instance metadata for node ${name}: instance not found`)
  if (instance.providerId === '' && (found.spec.providerID ?? '') === '')
    throw new Error(
      `failed to get instance metadata for node ${name}: cloud provider does not set node provider ID for node ${name}`,
    )
  // A new node is written by several controllers at a time, so its current version is read.
  const initialized = await tools.client.of(node).modify(
    name,
    '',
    (copy) => {
      const { metadata, spec } = initializedNode(copy, instance)
      Object.assign(copy, { metadata, spec })
    },
    context,
  )
  await setAddresses(initialized, instance, tools, context)
  tools.recordEvent(found, { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' }, context)
  return addressesEveryMs
}

async function setAddresses(found: Node, instance: CloudInstance, tools: Tools, context: Context): Promise<void> {
  const addresses = instanceAddresses(found, instance)
  if (addresses === undefined || equalValues(addresses, found.status.addresses)) return
  // The list is replaced as a whole, because nodes can have several addresses of one type.
  const body = { status: { addresses: [{ $patch: 'replace' }, ...addresses] } }
  await patch(found, body, tools, context, 'status')
}

const patch = (found: Node, body: object, { client }: Tools, context: Context, subresource = ''): Promise<Node> =>
  client.of(node).patch(found.metadata.name, '', body, 'strategic', context, subresource)
