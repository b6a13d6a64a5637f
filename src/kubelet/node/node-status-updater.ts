// NodeStatusUpdater: updates the node's status between the periodic updates when something relevant has changed.
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { WorkQueue } from '../../base/work/work-queue.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import { registerNode, type RegistrationDeps } from './node-registration.ts'

export interface NodeStatusUpdaterDeps extends RegistrationDeps {
  readonly log: Log
  readonly events: EventRecorder
  /** The Node object. */
  readonly node: (context: Context) => Promise<Node | undefined>
}

/** Upstream's node status update frequency; changes within this time are reported together. */
const batchMs = 10_000

type Change = 'readiness' | 'status' | 'volumes'

export class NodeStatusUpdater {
  readonly #deps: NodeStatusUpdaterDeps
  readonly #queue: WorkQueue<Change>
  #isScheduled = false

  constructor(deps: NodeStatusUpdaterDeps) {
    this.#deps = deps
    this.#queue = new WorkQueue(deps.clock)
  }

  /** Reports a change of the Ready condition immediately. */
  updateNow(): void {
    this.#queue.add('readiness')
  }

  /** Reports the volumes in use immediately, because pods wait until they are attached. */
  updateVolumes(): void {
    this.#queue.add('volumes')
  }

  /** Reports other changes with the next batch. */
  updateSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#queue.addAfter('status', batchMs)
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const { key } = work
      if (key === 'status') this.#isScheduled = false
      try {
        await this.#update(key, context(signal))
        this.#queue.forget(key)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.debug('the node status could not be updated', { error: errorText(error) })
        this.#queue.retry(key, work.cause)
      } finally {
        this.#queue.done(key)
      }
    }
  }

  async #update(change: Change, ctx: Context): Promise<void> {
    const { state, node, events, description } = this.#deps
    await registerNode(this.#deps, ctx)
    const found = change === 'readiness' ? await node(ctx) : undefined
    if (found === undefined) return
    const reason = state().problems.length === 0 ? 'NodeReady' : 'NodeNotReady'
    const message = `Node ${description.name} status is now: ${reason}`
    events.record(found, { type: 'Normal', reason, message }, ctx)
  }
}
