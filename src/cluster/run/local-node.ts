// LocalNode: the real node of this machine in the process of a cluster. It starts before the cluster or concurrently with
// it, and stops after the kubelet that uses it.
import { hostname } from 'node:os'
import { errorText, type Log } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { isLoopback } from '../../base/net/remote-address.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { openKubeletPort, selfSigned, type KubeletServerHolder, type OpenKubeletPort } from '../node/kubelet-port.ts'
import { openApiToPods, type AddListener, type ServerAddress } from '../node/pod-api-access.ts'
import type { RealNode, RealNodeOptions } from '../node/real-node.ts'
import type { StopProgress } from './stop-progress.ts'

export interface LocalNodeOptions extends Omit<RealNodeOptions, 'kubeletPort'> {
  /** The port of the kubelet; 0 for none. By default 10250, unless the node has a loopback address or it is in use. */
  readonly kubeletPort: number | undefined
  /** The authorities of client certificates, as PEM; `trust` replaces them. */
  readonly authority: string
  /** Whether a stop ends the containers. Otherwise they and their network stay as they are. */
  readonly endsContainers: boolean
}

const kubeletPortDefault = 10_250

export class LocalNode implements AsyncDisposable {
  readonly #options: LocalNodeOptions
  readonly #log: Log
  readonly #stopping: StopProgress
  readonly #cleanUps = new AsyncDisposableStack()
  /** The server of its kubelet, while that runs. */
  readonly #kubelet: KubeletServerHolder = { server: undefined }
  #node: RealNode | undefined
  #authority: string
  #port: OpenKubeletPort | undefined

  constructor(options: LocalNodeOptions, log: Log, stopping: StopProgress) {
    this.#options = options
    this.#log = log
    this.#stopping = stopping
    this.#authority = options.authority
  }

  async start(signal: AbortSignal): Promise<RealNode> {
    // Loaded on demand: most clusters do not need it.
    const { startRealNode } = await import('../node/real-node.ts')
    const deps = { platform: nodePlatform, clock: realClock, log: this.#log }
    const kubeletPort = await this.#listen()
    const started = await startRealNode({ ...this.#options, kubeletPort }, deps, signal)
    const node = kubeletPort === undefined ? started : { ...started, server: this.#kubelet }
    this.#node = node
    this.#cleanUps.defer(this.#stopping.step('containerd to stop', () => node.stop()))
    if (this.#options.endsContainers) this.#cleanUps.defer(this.#endContainers(node))
    return node
  }

  #endContainers(node: RealNode): () => Promise<void> {
    return this.#stopping.step('the containers of this machine to end', () =>
      node
        .stopPods()
        .catch((error: unknown) => this.#log.warn('not all containers have ended', { error: errorText(error) })),
    )
  }

  /** Accepts client certificates of these authorities from now on. */
  trust(authority: string): void {
    this.#authority = authority
    this.#port?.trust(authority)
  }

  /** Opens the port of the kubelet, for which it has a self-signed certificate, as in upstream. */
  async #listen(): Promise<number | undefined> {
    const { hostIp, kubeletPort, name = hostname() } = this.#options
    const port = kubeletPort ?? (isLoopback(hostIp) ? 0 : kubeletPortDefault)
    if (port === 0) return undefined
    const shared = { host: hostIp, port, authority: this.#authority, holder: this.#kubelet, log: this.#log }
    try {
      const identity = selfSigned(name.toLowerCase(), hostIp)
      this.#port = await openKubeletPort({ ...shared, identity }, this.#cleanUps)
      return this.#port.port
    } catch (error) {
      if (kubeletPort !== undefined)
        throw new Error(`cannot listen on ${hostIp}:${port} for the kubelet; use --kubelet-port`, { cause: error })
      this.#log.warn('the kubelet of this machine has no port, so that only the API server can call it', {
        port,
        error: errorText(error),
      })
      return undefined
    }
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
