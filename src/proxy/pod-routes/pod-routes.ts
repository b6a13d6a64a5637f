// PodRoutes: keeps the paths from this node to the pods of all other nodes up to date.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Clock } from '../../base/time/clock.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { noCause, type Cause, type FlowId, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { Cidr } from '../../base/net/cidr.ts'
import type { PathKind, PodNetwork } from '../../machine/pod-network/pod-network.ts'
import type { ProxyMetrics } from '../metrics/proxy-metrics.ts'
import type { ProxyEvents } from '../proxy-events.ts'
import { peerPaths, type Peer, type PeerPaths } from './peer-paths.ts'
import { peersOf, type OwnNetwork, type PeerProblem } from './peers.ts'

export interface PodRoutesDeps {
  readonly nodes: Pick<Informer<Node>, 'all' | 'onChange' | 'synced'>
  readonly network: PodNetwork
  readonly own: OwnNetwork
  readonly events: Pick<ProxyEvents, 'nodeIgnored'>
  readonly metrics: Pick<ProxyMetrics, 'ignoredNodes'>
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

interface Recorded {
  readonly id: FlowId
  /** The node; undefined if it is the event of many. */
  readonly name?: string
}

export class PodRoutes {
  readonly #deps: PodRoutesDeps
  /** The peers whose paths are set, as JSON by their names. */
  #applied: ReadonlyMap<string, string> | undefined
  /** The last change of each node since its path was set. */
  readonly #causes = new Map<string, Cause>()
  /** The nodes whose path the kernel did not accept, and why. */
  #failed: ReadonlyMap<string, string> = new Map()
  /** Of which nodes a problem was reported. */
  #reported: ReadonlyMap<string, string> = new Map()
  #wake: () => void = () => {}
  #isChanged = true

  constructor(deps: PodRoutesDeps) {
    this.#deps = deps
    deps.nodes.onChange(({ key, now, before, cause }) => {
      // Most changes of nodes are heartbeats.
      if (now !== undefined && before !== undefined && networkText(now) === networkText(before)) return
      this.#causes.set(key, cause)
      this.#isChanged = true
      this.#wake()
    })
  }

  /** Applies changes until the signal is aborted. A failure is logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, log } = this.#deps
    await unlessAborted(nodes.synced, signal)
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
        // A change is applied at once: the failure may be that of one node.
        await this.#nextChange(signal, retryMs)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Sets all paths that can be set; fails if there are others. */
  async #apply(signal: AbortSignal): Promise<void> {
    const { nodes, network, own, publish } = this.#deps
    const causes = new Map(this.#causes)
    const { peers, problems } = peersOf(nodes.all(), own)
    this.#report(problems)
    const wanted = new Map(peers.map((peer) => [peer.name, JSON.stringify(peer)]))
    const changed = [...new Set([...wanted.keys(), ...(this.#applied?.keys() ?? [])])].filter(
      (name) => wanted.get(name) !== this.#applied?.get(name),
    )
    if (this.#applied !== undefined && changed.length === 0) return this.#forget(causes)
    const addresses = [...new Set(peers.flatMap((peer) => peer.addresses))]
    const adjacent = await network.adjacent(addresses, signal)
    const paths = peerPaths(peers, (address) => adjacent.has(address))
    const failed = await this.#setPaths(paths, this.#record(changed, paths, causes), peers, signal)
    this.#failed = failed
    this.#report(problems)
    this.#applied = new Map([...wanted].filter(([name]) => !failed.has(name)))
    this.#forget(causes)
    await publish(pathText([...paths.nodes.values()]), signal)
    for (const [name, message] of failed) throw new Error(`${name}: ${message}`)
  }

  /** Events about nodes without a path, once for each reason. */
  #report(problems: ReadonlyMap<Node, PeerProblem>): void {
    const { nodes, events, metrics, log, own } = this.#deps
    const reported = new Map<string, string>()
    for (const node of nodes.all()) {
      const { name } = node.metadata
      const failure = this.#failed.get(name)
      const problem = problems.get(node) ?? (failure && { reason: 'FailedToSetPodRoute', message: failure })
      if (!problem) continue
      reported.set(name, problem.message)
      if (this.#reported.get(name) === problem.message) continue
      log.warn('a node has no path, or an address of it is ignored', { node: name, ...problem })
      events.nodeIgnored(node, problem.reason, `Node ${own.nodeName}: ${problem.message}`)
    }
    this.#reported = reported
    metrics.ignoredNodes.set({}, reported.size)
  }

  #forget(causes: ReadonlyMap<string, Cause>): void {
    for (const [name, cause] of causes) if (this.#causes.get(name) === cause) this.#causes.delete(name)
  }

  #record(changed: readonly string[], { nodes }: PeerPaths, causes: ReadonlyMap<string, Cause>): readonly Recorded[] {
    const { flow, own } = this.#deps
    const from = `proxy/${own.nodeName}`
    if (changed.length > flowEventsPerChangeMax)
      return [{ id: flow.record('call', from, 'Network', `set the paths to ${changed.length} nodes`) }]
    return changed.map((name) => {
      const what = actions[nodes.get(name) ?? 'none']
      const id = flow.record(
        'call',
        from,
        'Network',
        what,
        { resource: 'nodes', namespace: '', name },
        0,
        causes.get(name) ?? noCause,
      )
      return { id, name }
    })
  }

  /** Returns the nodes whose path the kernel does not accept, and why. */
  async #setPaths(
    paths: PeerPaths,
    recorded: readonly Recorded[],
    peers: readonly Peer[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const { flow, network } = this.#deps
    try {
      const failed = failedNodes(await network.setPaths(paths, signal), peers)
      for (const { id, name } of recorded) flow.finish(id, failed.get(name ?? '') ?? 'ok')
      return failed
    } catch (error) {
      for (const { id } of recorded) flow.finish(id, errorText(error))
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

  /** Resolves with the next change, or after this time. */
  async #nextChange(signal: AbortSignal, waitMs?: number): Promise<void> {
    if (this.#isChanged || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = waitMs === undefined ? undefined : this.#deps.clock.after(waitMs, resolve)
    try {
      await unlessAborted(promise, signal)
    } finally {
      timer?.cancel()
    }
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

const failedNodes = (failed: ReadonlyMap<Cidr, string>, peers: readonly Peer[]): ReadonlyMap<string, string> =>
  new Map(
    peers.flatMap(({ name, podRanges }) =>
      podRanges.flatMap((range) => {
        const message = failed.get(range)
        return message === undefined ? [] : [[name, message] as const]
      }),
    ),
  )

/** What paths depend on. */
const networkText = ({ metadata, spec, status }: Node): string =>
  JSON.stringify([metadata.uid, spec.podCIDRs, status.addresses])
