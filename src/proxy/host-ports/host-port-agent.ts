// HostPortAgent: keeps the rules of the kernel equal to the host ports of this node's pods.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Cidr } from '../../base/net/cidr.ts'
import { mergeCauses, type Cause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { Conntrack, UdpFlows } from '../../machine/conntrack/conntrack.ts'
import type { ListeningPorts } from '../../machine/listening-ports/listening-ports.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { contentCommands, contentDiff, diffCommands, noDiff } from '../../machine/nftables/table-content.ts'
import { removeTable, TableSync, type TableTransaction } from '../../machine/nftables/table-sync.ts'
import type { ProxyMetrics } from '../metrics/proxy-metrics.ts'
import type { ProxyEvents } from '../proxy-events.ts'
import { hostPortContent, hostPortLayout, hostPortTable } from './host-port-table.ts'
import { presenceCommands, probeCommands, removalCommands } from './host-port-table.ts'
import { hostPortsOf, type HostPort, type HostPortProblem, type PodHostPorts } from './host-ports.ts'
import { isUsedBy, portText } from './port-conflicts.ts'

export interface HostPortAgentDeps {
  readonly informers: Pick<Informers, 'of'>
  readonly nftables: Nftables
  readonly conntrack: Conntrack
  readonly clock: Clock
  readonly log: Log
  readonly flow: FlowRecorder
  readonly events: Pick<ProxyEvents, 'hostPortIgnored'>
  readonly metrics: Pick<ProxyMetrics, 'ignoredHostPorts'>
  /** The sockets of programs of this machine. */
  readonly listeningPorts: ListeningPorts
  readonly nodeName: string
  /** The pod ranges of this node. */
  readonly podRanges: readonly Cidr[]
}

interface PodPorts extends PodHostPorts {
  readonly pod: Pod
  /** Of two pods with the same port, the one that was created first has it. */
  readonly order: string
  /** Ports that a program of the machine used at some time. The program keeps them, because it may be restarted. */
  readonly used: Set<string>
  /** Messages of recorded events. */
  readonly reported: Set<string>
}

/** How often the sockets of the machine are compared with host ports. */
export const portCheckMs = 5_000

/** Further causes of one change are not recorded. */
const causesMax = 16

/** Runs in `tasks` until they are stopped. The rules remain, so that traffic continues while it is restarted. */
export function startHostPorts(deps: HostPortAgentDeps, tasks: TaskGroup): HostPortAgent {
  const agent = new HostPortAgent(deps)
  tasks.start('host ports', (signal) => agent.run(signal))
  return agent
}

/** Removes the rules of host ports, and no others. */
export async function removeHostPortRules(nftables: Nftables): Promise<void> {
  await removeTable(nftables, 'host ports', removalCommands)
}

export class HostPortAgent {
  readonly #deps: HostPortAgentDeps
  readonly #sync: TableSync
  readonly #informerSynced: Promise<unknown>
  readonly #pods = new Map<ObjectKey, PodPorts>()
  /** The ports that lead to pods, after the last comparison with the sockets of the machine. */
  #mapped: readonly HostPort[] = []
  #wakeCheck = Promise.withResolvers<void>()
  #content = hostPortContent([])
  /** UDP ports that have changed and whose flows were not removed yet. */
  #changedUdp: HostPort[] = []
  #causes = new Map<ObjectKey, Cause[]>()

  constructor(deps: HostPortAgentDeps) {
    this.#deps = deps
    this.#sync = new TableSync(
      { subject: 'host ports', presenceCommands, probeCommands, next: (isFull) => this.#next(isFull) },
      deps,
    )
    const pods = deps.informers.of(pod)
    pods.onChange((change) => this.#observe(change))
    this.#informerSynced = pods.synced
  }

  /** Resolves when the rules were applied for the first time. */
  get synced(): Promise<void> {
    return this.#sync.synced
  }

  async run(signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#informerSynced, signal)
    await this.#check(signal)
    await Promise.all([this.#sync.run(signal), this.#checkRepeatedly(signal)])
  }

  /** After each change of a host port, and from time to time, because programs start and end. */
  async #checkRepeatedly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const timer = this.#deps.clock.after(portCheckMs, () => this.#wakeCheck.resolve())
      try {
        await unlessAborted(this.#wakeCheck.promise, signal)
      } finally {
        timer.cancel()
      }
      await this.#check(signal)
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { clock, listeningPorts, metrics } = this.#deps
    this.#wakeCheck = Promise.withResolvers<void>()
    const sockets = this.#pods.size === 0 ? [] : await clock.outside(listeningPorts.read())
    signal.throwIfAborted()
    const inOrder = [...this.#pods.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1))
    const mapped: HostPort[] = []
    let ignored = 0
    for (const ofPod of inOrder) {
      for (const port of ofPod.ports) if (sockets.some(isUsedBy(port))) ofPod.used.add(portText(port))
      mapped.push(...ofPod.ports.filter((port) => !ofPod.used.has(portText(port))))
      ignored += ofPod.used.size + ofPod.problems.length
      this.#report(ofPod)
    }
    metrics.ignoredHostPorts.set({}, ignored)
    const isChanged = JSON.stringify(mapped) !== JSON.stringify(this.#mapped)
    this.#mapped = mapped
    if (isChanged || this.#causes.size > 0) this.#sync.queue()
  }

  #report({ pod: about, problems, used, reported }: PodPorts): void {
    const { events, log, nodeName } = this.#deps
    const conflicts = Array.from(used, (port): HostPortProblem => {
      const message = `host port ${port} is not mapped: a program of the node ${nodeName} uses it`
      return { reason: 'HostPortConflict', message }
    })
    for (const { reason, message } of [...problems, ...conflicts]) {
      if (reported.has(message)) continue
      reported.add(message)
      log.warn('a host port is not mapped', { pod: keyOf(about), reason, message })
      events.hostPortIgnored(about, reason, message)
    }
  }

  #observe({ key, now, cause }: ObjectChange<Pod>): void {
    const { ports, problems } =
      now?.spec.nodeName === this.#deps.nodeName ? hostPortsOf(now) : { ports: [], problems: [] }
    const known = this.#pods.get(key)
    const before = known?.ports ?? []
    if (JSON.stringify([before, known?.problems ?? []]) === JSON.stringify([ports, problems])) return
    if (now === undefined || ports.length + problems.length === 0) this.#pods.delete(key)
    else {
      const order = `${now.metadata.creationTimestamp} ${now.metadata.uid}`
      const isSame = known?.pod.metadata.uid === now.metadata.uid
      const [used, reported] = isSame ? [known.used, known.reported] : [new Set<string>(), new Set<string>()]
      this.#pods.set(key, { pod: now, ports, problems, order, used, reported })
    }
    this.#changedUdp.push(...[...before, ...ports].filter(({ protocol }) => protocol === 'udp'))
    const causes = this.#causes.get(key)
    if (causes === undefined) this.#causes.set(key, [cause])
    else if (causes.length < causesMax) causes.push(cause)
    this.#wakeCheck.resolve()
  }

  /** A node has few pods with host ports, so the whole content is computed each time. */
  #next(isFull: boolean): TableTransaction {
    const before = this.#content
    const causes = this.#causes
    const changedUdp = this.#changedUdp
    this.#content = hostPortContent(this.#mapped)
    this.#causes = new Map()
    this.#changedUdp = []
    const diff = noDiff()
    if (!isFull) runToEnd((slice) => contentDiff(before, this.#content, diff, slice))
    const commands = isFull
      ? [...hostPortLayout(this.#deps.podRanges), ...contentCommands(hostPortTable, [this.#content])]
      : [...diffCommands(hostPortTable, diff)]
    const recorded = this.#recordFlow(causes)
    return {
      commands,
      isFull,
      finish: async (result, _needsFullSync, signal) => {
        const outcome = result.kind === 'applied' ? 'ok' : result.messages.join('; ')
        for (const id of recorded) this.#deps.flow.finish(id, outcome)
        if (result.kind === 'failed') this.#changedUdp.push(...changedUdp)
        else if (changedUdp.length > 0) await this.#removeFlows(changedUdp, signal)
      },
    }
  }

  #recordFlow(causes: ReadonlyMap<ObjectKey, readonly Cause[]>) {
    const { flow, nodeName } = this.#deps
    return Array.from(causes, ([key, ofPod]) => {
      const object = { resource: 'pods', ...splitKey(key) }
      return flow.record('call', `proxy/${nodeName}`, 'Network', 'apply host ports', object, 0, mergeCauses(ofPod))
    })
  }

  /** The kernel would send further packets of known clients to the destination of their first one. */
  async #removeFlows(changed: readonly HostPort[], signal: AbortSignal): Promise<void> {
    const { conntrack, clock, log } = this.#deps
    const isChanged = ({ family, address, port, endpoint }: UdpFlows): boolean =>
      changed.some(
        (each) =>
          each.family === family &&
          each.hostPort === port &&
          (endpoint.address === address || endpoint.address === each.target.address),
      )
    try {
      const flows = await clock.outside(conntrack.udpFlows(signal))
      for (const stale of flows.filter(isChanged)) await clock.outside(conntrack.remove(stale, signal))
    } catch (error) {
      signal.throwIfAborted()
      log.error('cannot remove stale UDP flows of host ports', { error: errorText(error) })
    }
  }
}
