// NodeReports: writes the volumes that are attached to a node to its status, which the kubelet reads before it mounts one.
import { node } from '../../api/core/v1/node/node.ts'
import type { Context } from '../../base/observability/context.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import type { ReconcileTools } from '../runtime/controller.ts'
import type { Attachments } from './attachment.ts'

export class NodeReports {
  readonly #attachments: Attachments
  /** The last write of each node that is under way: a later list must not be overtaken by an earlier one. */
  readonly #writes = new Map<string, Promise<void>>()

  constructor(attachments: Attachments) {
    this.#attachments = attachments
  }

  /** Resolves when the status of the node lists what is attached at the time of the call, or the node does not exist. */
  async write(nodeName: string, { client }: Pick<ReconcileTools, 'client'>, context: Context): Promise<void> {
    const previous = this.#writes.get(nodeName) ?? Promise.resolve()
    const write = previous.catch(() => undefined).then(() => this.#send(nodeName, client, context))
    this.#writes.set(nodeName, write)
    try {
      await write
    } finally {
      if (this.#writes.get(nodeName) === write) this.#writes.delete(nodeName)
    }
  }

  async #send(nodeName: string, client: ReconcileTools['client'], context: Context): Promise<void> {
    const volumesAttached = this.#attachments
      .onNode(nodeName)
      .filter(({ isReported }) => isReported)
      .map(({ volume }) => ({ name: volume, devicePath: '' }))
    const patch = { status: { volumesAttached } }
    await client.of(node).patch(nodeName, '', patch, 'strategic', context, 'status').catch(ignoring('NotFound'))
  }
}
