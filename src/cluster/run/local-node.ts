// LocalNode: the real node of this machine in the process of a cluster. It starts before the cluster or concurrently with
// it, and stops after the kubelet that uses it.
import { errorText, type Log } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { closeApiToPods, openApiToPods, type AddListener } from '../node/pod-api-access.ts'
import type { RealNode, RealNodeOptions } from '../node/real-node.ts'
import type { StopProgress } from './stop-progress.ts'

const { signal: never } = new AbortController()

export class LocalNode implements AsyncDisposable {
  readonly #options: RealNodeOptions & { readonly podCidr: string }
  readonly #log: Log
  readonly #stopping: StopProgress
  readonly #cleanUps = new AsyncDisposableStack()
  #node: RealNode | undefined

  constructor(options: RealNodeOptions & { readonly podCidr: string }, log: Log, stopping: StopProgress) {
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

  /** Lets the pods of this machine reach the API server at the address of its Service. */
  async openApi(addListener: AddListener): Promise<void> {
    const { processes } = nodePlatform
    await openApiToPods(this.#options.podCidr, { addListener, processes, log: this.#log }, never)
    this.#cleanUps.defer(() => closeApiToPods(processes, never))
  }

  /** Stops the pods as at a system shutdown, if the node has started. */
  async shutDown(): Promise<void> {
    await this.#node?.shutDown()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUps.disposeAsync()
  }
}
