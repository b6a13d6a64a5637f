// CsiNodeUpdater: maintains the CSINode of this node, and the node's topology labels and driver ids. The CSINode exists
// on every node with plugins, also without drivers: the scheduler then knows that no driver is registered.
import { lookup } from '../../base/collections/lookup.ts'
import type { Context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { csiNode, type CSINodeDriver } from '../../api/storage/v1/csi-node.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { Client } from '../../client/client.ts'
import {
  nodeIdAnnotation,
  nodeIdsWith,
  topologyLabels,
  withDriver,
  withLimit,
  withoutDriver,
  type DriverNodeInfo,
} from './csi-node-entries.ts'

export interface CsiNodeUpdaterDeps {
  readonly client: Client
  readonly nodeName: string
}

/** Bounds the retries after conflicts with other writers. */
const attemptsMax = 10

export class CsiNodeUpdater {
  readonly #deps: CsiNodeUpdaterDeps

  constructor(deps: CsiNodeUpdaterDeps) {
    this.#deps = deps
  }

  /** Creates the CSINode if it is missing. Rejects while the Node object does not exist. */
  async initialize(context: Context): Promise<void> {
    await this.#setDrivers((drivers) => drivers, context)
  }

  async install(name: string, info: DriverNodeInfo, context: Context): Promise<void> {
    await this.#updateNode(name, info, context)
    await this.#setDrivers((drivers) => withDriver(drivers, name, info), context)
  }

  /** Sets how many volumes of a registered driver the node can have; 0: not limited. */
  async setLimit(name: string, maxVolumesPerNode: number, context: Context): Promise<void> {
    await this.#setDrivers((drivers) => withLimit(drivers, name, maxVolumesPerNode), context)
  }

  /** Topology labels stay, as upstream leaves them. */
  async uninstall(name: string, context: Context): Promise<void> {
    await this.#setDrivers((drivers) => withoutDriver(drivers, name), context)
    await this.#updateNode(name, undefined, context)
  }

  async #setDrivers(
    change: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[],
    context: Context,
  ): Promise<void> {
    const { client, nodeName } = this.#deps
    const csiNodes = client.of(csiNode)
    await retryRaces(async () => {
      const known = await csiNodes.find(nodeName, '', context)
      const before = known?.spec.drivers ?? []
      const drivers = change(before)
      if (known !== undefined && equalValues(before, drivers)) return
      if (known === undefined) await csiNodes.create(await this.#newCsiNode(drivers, context), '', context)
      else await csiNodes.update({ ...known, spec: { ...known.spec, drivers } }, context)
    })
  }

  async #newCsiNode(drivers: readonly CSINodeDriver[], context: Context) {
    const { apiVersion, kind, metadata } = await this.#node(context)
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }]
    return { metadata: { name: metadata.name, ownerReferences }, spec: { drivers: [...drivers] } }
  }

  #node(context: Context): Promise<Node> {
    return this.#deps.client.of(node).get(this.#deps.nodeName, '', context)
  }

  /** Sets the id and the labels of a driver, or removes its id. */
  #updateNode(name: string, info: DriverNodeInfo | undefined, context: Context): Promise<void> {
    return retryRaces(() => this.#patchNode(name, info, context))
  }

  async #patchNode(name: string, info: DriverNodeInfo | undefined, context: Context): Promise<void> {
    const { client, nodeName } = this.#deps
    const { metadata } = await this.#node(context)
    const annotation = metadata.annotations?.[nodeIdAnnotation]
    const ids = nodeIdsWith(annotation, name, info?.nodeId)
    const labels = info === undefined ? {} : topologyLabels(metadata.labels ?? {}, info.topology)
    const isLabelled = Object.entries(labels).every(([key, value]) => lookup(metadata.labels ?? {}, key) === value)
    if (ids === annotation && isLabelled) return
    const patch = {
      // The version makes a concurrent change of the annotation a conflict.
      metadata: {
        resourceVersion: metadata.resourceVersion,
        annotations: { [nodeIdAnnotation]: ids ?? null },
        ...(info === undefined ? {} : { labels }),
      },
    }
    await client.of(node).patch(nodeName, '', patch, 'merge', context)
  }
}

/** Repeats the work after a conflict with another writer, whose result it reads. */
async function retryRaces(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      const isRace = hasReason(error, 'Conflict') || hasReason(error, 'AlreadyExists')
      if (!isRace || attempt === attemptsMax) throw error
    }
}
