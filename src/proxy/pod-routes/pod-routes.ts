// PodRoutes: keeps the paths from this node to the pods of all other nodes up to date.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { PathKind, PodNetwork } from '../../machine/pod-network/pod-network.ts'
import { peerPaths, type Peer } from './peer-paths.ts'

export interface PodRoutesDeps {
  readonly nodes: Pick<Informer<Node>, 'all' | 'onChange' | 'synced'>
  readonly network: PodNetwork
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** Publishes how the pods of other nodes are reached, after every change. */
  readonly publish: (text: PathText, signal: AbortSignal) => Promise<void>
}

const retryMsInitial = 500
const retryMsMax = 30_000

export class PodRoutes {
  readonly #deps: PodRoutesDeps
  /** The peers whose paths are set. */
  #applied = ''
  #wake: () => void = () => {}
  #isChanged = true

  constructor(deps: PodRoutesDeps) {
    this.#deps = deps
    deps.nodes.onChange(() => {
      this.#isChanged = true
      this.#wake()
    })
  }

  /** Applies changes until the signal is aborted. A failure is logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, clock, log } = this.#deps
    await nodes.synced
    await this.#warnAboutFirewall(signal)
    let retryMs = retryMsInitial
    while (!signal.aborted) {
      this.#isChanged = false
      try {
        await this.#apply(signal)
        retryMs = retryMsInitial
        await this.#nextChange(signal)
      } catch (error) {
        if (signal.aborted) return
        log.warn('the paths to pods of other nodes could not be set', { error: errorText(error), retryMs })
        await clock.sleep(retryMs, signal)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Most changes of nodes are heartbeats, which change no peer. */
  async #apply(signal: AbortSignal): Promise<void> {
    const { nodes, network, nodeName, publish } = this.#deps
    const peers = peersOf(nodes.all(), nodeName)
    const text = JSON.stringify(peers)
    if (text === this.#applied) return
    const addresses = [...new Set(peers.flatMap((peer) => peer.addresses))]
    const adjacent = await network.adjacent(addresses, signal)
    const paths = peerPaths(peers, (address) => adjacent.has(address))
    await network.setPaths(paths, signal)
    this.#applied = text
    await publish(pathText([...paths.nodes.values()]), signal)
  }

  async #warnAboutFirewall(signal: AbortSignal): Promise<void> {
    const blockedBy = await this.#deps.network.forwardingBlockedBy(signal)
    if (blockedBy === undefined) return
    this.#deps.log.warn('pods may not reach other nodes or the outside; allow forwarding for the pod ranges', {
      firewall: blockedBy,
    })
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    if (this.#isChanged || signal.aborted) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    signal.addEventListener('abort', () => resolve(), { once: true })
    return promise
  }
}

/** The annotation of a Node that says how it reaches the pods of other nodes. */
export const podPathsAnnotation = 'coxswain.dev/pod-paths'

export type PathText = 'VXLAN' | 'no other nodes' | 'routes' | 'routes and VXLAN'

export function pathText(kinds: readonly PathKind[]): PathText {
  if (kinds.length === 0) return 'no other nodes'
  if (!kinds.includes('vxlan')) return 'routes'
  return kinds.includes('route') ? 'routes and VXLAN' : 'VXLAN'
}

/** The other nodes with pod ranges, in a stable order. Loopback addresses lead to no other machine. */
export function peersOf(nodes: Iterable<Node>, nodeName: string): readonly Peer[] {
  return [...nodes]
    .filter(({ metadata }) => metadata.name !== nodeName)
    .map(({ metadata, spec, status }) => ({
      name: metadata.name,
      podRanges: spec.podCIDRs ?? [],
      addresses: (status.addresses ?? [])
        .filter(({ type, address }) => type === 'InternalIP' && !isLoopback(address))
        .map(({ address }) => address),
    }))
    .filter(({ podRanges, addresses }) => podRanges.length > 0 && addresses.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
