// HostPortAgent: keeps the rules of the kernel equal to the host ports of this node's pods.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { mergeCauses, type Cause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { Conntrack, UdpFlows } from '../../machine/conntrack/conntrack.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { contentCommands, contentDiff, diffCommands, noDiff } from '../../machine/nftables/table-content.ts'
import { removeTable, TableSync, type TableTransaction } from '../../machine/nftables/table-sync.ts'
import { hostPortContent, hostPortLayout, hostPortTable } from './host-port-table.ts'
import { presenceCommands, probeCommands, removalCommands } from './host-port-table.ts'
import { hostPortsOf, type HostPort } from './host-ports.ts'

export interface HostPortAgentDeps {
  readonly informers: Pick<Informers, 'of'>
  readonly nftables: Nftables
  readonly conntrack: Conntrack
  readonly clock: Clock
  readonly log: Log
  readonly flow: FlowRecorder
  readonly nodeName: string
  /** The pod ranges of this node. */
  readonly podRanges: readonly string[]
}

interface PodPorts {
  readonly ports: readonly HostPort[]
  /** Of two pods with the same port, the one that was created first has it. */
  readonly order: string
}

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
    await this.#sync.run(signal)
  }

  #observe({ key, now, cause }: ObjectChange<Pod>): void {
    const ports = now?.spec.nodeName === this.#deps.nodeName ? hostPortsOf(now) : []
    const before = this.#pods.get(key)?.ports ?? []
    if (JSON.stringify(before) === JSON.stringify(ports)) return
    if (now === undefined || ports.length === 0) this.#pods.delete(key)
    else this.#pods.set(key, { ports, order: `${now.metadata.creationTimestamp} ${now.metadata.uid}` })
    this.#changedUdp.push(...[...before, ...ports].filter(({ protocol }) => protocol === 'udp'))
    const causes = this.#causes.get(key)
    if (causes === undefined) this.#causes.set(key, [cause])
    else if (causes.length < causesMax) causes.push(cause)
    this.#sync.queue()
  }

  /** A node has few pods with host ports, so the content is computed anew. */
  #next(isFull: boolean): TableTransaction {
    const [before, causes, changedUdp] = [this.#content, this.#causes, this.#changedUdp]
    const inOrder = [...this.#pods.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1))
    this.#content = hostPortContent(inOrder.flatMap(({ ports }) => ports))
    this.#causes = new Map()
    this.#changedUdp = []
    const diff = noDiff()
    if (!isFull) contentDiff(before, this.#content, diff)
    const commands = isFull
      ? [...hostPortLayout(this.#deps.podRanges), ...contentCommands(hostPortTable, [this.#content])]
      : [...diffCommands(hostPortTable, diff)]
    const recorded = this.#recordFlow(causes)
    return {
      commands,
      isFull,
      finish: async (result, _isInDoubt, signal) => {
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
