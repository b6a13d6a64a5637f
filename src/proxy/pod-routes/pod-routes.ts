// PodRoutes: keeps the paths from this node to the pods of all other nodes up to date.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Clock } from '../../base/time/clock.ts'
import { noCause, type Cause, type FlowId, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { PathKind, PodNetwork } from '../../machine/pod-network/pod-network.ts'
import { peerPaths, type Peer, type PeerPaths } from './peer-paths.ts'

export interface PodRoutesDeps {
  readonly nodes: Pick<Informer<Node>, 'all' | 'onChange' | 'synced'>
  readonly network: PodNetwork
  readonly nodeName: string
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  /** Publishes how the pods of other nodes are reached, after every change. */
  readonly publish: (text: PathText, signal: AbortSignal) => Promise<void>
}

const retryMsInitial = 500
const retryMsMax = 30_000
/** Changes of more nodes, as at the start, are one flow event. */
const flowEventsPerChangeMax = 100

const actions: Readonly<Record<PathKind | 'none', string>> = {
  route: 'set a route to',
  vxlan: 'set a VXLAN path to',
  none: 'remove the path to',
}

export class PodRoutes {
  readonly #deps: PodRoutesDeps
  /** The peers whose paths are set, as JSON by their names. */
  #applied: ReadonlyMap<string, string> | undefined
  /** The last change of each node since its path was set. */
  readonly #causes = new Map<string, Cause>()
  #wake: () => void = () => {}
  #isChanged = true

  constructor(deps: PodRoutesDeps) {
    this.#deps = deps
    deps.nodes.onChange(({ key, cause }) => {
      this.#causes.set(key, cause)
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
    const causes = new Map(this.#causes)
    const peers = peersOf(nodes.all(), nodeName)
    const wanted = new Map(peers.map((peer) => [peer.name, JSON.stringify(peer)]))
    const changed = [...new Set([...wanted.keys(), ...(this.#applied?.keys() ?? [])])].filter(
      (name) => wanted.get(name) !== this.#applied?.get(name),
    )
    if (this.#applied !== undefined && changed.length === 0) return this.#forget(causes)
    const addresses = [...new Set(peers.flatMap((peer) => peer.addresses))]
    const adjacent = await network.adjacent(addresses, signal)
    const paths = peerPaths(peers, (address) => adjacent.has(address))
    const recorded = this.#record(changed, paths, causes)
    await this.#finish(recorded, network.setPaths(paths, signal))
    this.#applied = wanted
    this.#forget(causes)
    await publish(pathText([...paths.nodes.values()]), signal)
  }

  #forget(causes: ReadonlyMap<string, Cause>): void {
    for (const [name, cause] of causes) if (this.#causes.get(name) === cause) this.#causes.delete(name)
  }

  #record(changed: readonly string[], { nodes }: PeerPaths, causes: ReadonlyMap<string, Cause>): readonly FlowId[] {
    const { flow, nodeName } = this.#deps
    const from = `proxy/${nodeName}`
    if (changed.length > flowEventsPerChangeMax)
      return [flow.record('call', from, 'Network', `set the paths to ${changed.length} nodes`)]
    return changed.map((name) => {
      const what = actions[nodes.get(name) ?? 'none']
      return flow.record(
        'call',
        from,
        'Network',
        what,
        { resource: 'nodes', namespace: '', name },
        0,
        causes.get(name) ?? noCause,
      )
    })
  }

  async #finish(recorded: readonly FlowId[], setPaths: Promise<void>): Promise<void> {
    const finish = (outcome: string) => {
      for (const id of recorded) this.#deps.flow.finish(id, outcome)
    }
    try {
      await setPaths
      finish('ok')
    } catch (error) {
      finish(errorText(error))
      throw error
    }
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
