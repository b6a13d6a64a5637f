// NodeReports: the node's status, told when something has changed that others wait for, and not only every five minutes.
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { WorkQueue } from '../../base/work/work-queue.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import { registerNode, type RegistrationDeps } from './node-registration.ts'

export interface NodeStatusUpdaterDeps extends RegistrationDeps {
  readonly log: Log
  readonly events: EventRecorder
  /** The node's own object. */
  readonly node: (context: Context) => Promise<Node | undefined>
}

/** As often as upstream looks at its status: what comes within that time is told in one go. */
const gatherMs = 10_000

type News = 'readiness' | 'status'

export class NodeStatusUpdater {
  readonly #deps: NodeStatusUpdaterDeps
  readonly #queue: WorkQueue<News>
  #isPlanned = false

  constructor(deps: NodeStatusUpdaterDeps) {
    this.#deps = deps
    this.#queue = new WorkQueue(deps.clock)
  }

  /** The node has become ready, or has ceased to be: told at once. */
  updateNow(): void {
    this.#queue.add('readiness')
  }

  /** Something that nobody waits for by the second. */
  updateSoon(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#queue.addAfter('status', gatherMs)
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const { key } = work
      if (key === 'status') this.#isPlanned = false
      try {
        await this.#report(key, context(signal))
        this.#queue.forget(key)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.debug('could not report the node', { error: errorText(error) })
        this.#queue.retry(key, work.cause)
      } finally {
        this.#queue.done(key)
      }
    }
  }

  async #report(news: News, ctx: Context): Promise<void> {
    const { state, node, events, description } = this.#deps
    await registerNode(this.#deps, ctx)
    const found = news === 'readiness' ? await node(ctx) : undefined
    if (found === undefined) return
    const reason = state().problems.length === 0 ? 'NodeReady' : 'NodeNotReady'
    const message = `Node ${description.name} status is now: ${reason}`
    events.record(found, { type: 'Normal', reason, message }, ctx)
  }
}
