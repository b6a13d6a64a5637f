// LocalNode: the real node of this machine in the process of a cluster. It starts before the cluster or concurrently with
// it, and stops after the kubelet that uses it.
import { errorText, type Log } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { openApiToPods, type AddListener, type ServerAddress } from '../node/pod-api-access.ts'
import type { RealNode, RealNodeOptions } from '../node/real-node.ts'
import type { StopProgress } from './stop-progress.ts'

export class LocalNode implements AsyncDisposable {
  readonly #options: RealNodeOptions
  readonly #log: Log
  readonly #stopping: StopProgress
  readonly #cleanUps = new AsyncDisposableStack()
  #node: RealNode | undefined

  constructor(options: RealNodeOptions, log: Log, stopping: StopProgress) {
    this.#options = options
    this.#log = log
    this.#stopping = stopping
  }

  async start(signal: AbortSignal): Promise<RealNode> {
    // Loaded on demand: most clusters do not need it.
    const { startRealNode } = await import('../node/real-node.ts')
    const deps = { platform: nodePlatform, clock: realClock, log: this.#log }
    const node = await startRealNode(this.#options, deps, signal)
    this.#node = node
    this.#cleanUps.defer(this.#stopping.step('containerd to stop', () => node.stop()))
    this.#cleanUps.defer(
      this.#stopping.step('the containers of this machine to end', () =>
        node
          .stopPods()
          .catch((error: unknown) => this.#log.warn('not all containers have ended', { error: errorText(error) })),
      ),
    )
    return node
  }

  /** The address at which pods reach the API server, once it listens there. Undefined if there is none. */
  async openApi(server: ServerAddress, addListener: AddListener): Promise<ServerAddress | undefined> {
    const network = this.#node?.network
    return network === undefined ? undefined : openApiToPods(network, server, { addListener, log: this.#log })
  }

  /** Stops the pods as at a system shutdown, if the node has started. */
  async shutDown(): Promise<void> {
    await this.#node?.shutDown()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUps.disposeAsync()
  }
}
