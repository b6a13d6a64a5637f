// The policy agent of a node: keeps the rules of the kernel equal to the NetworkPolicies of the cluster. The kernel has the
// old rules or the new ones at any time, so a pod is never open in between, nor while the agent is restarted.
import { namespace, type Namespace } from '../api/core/v1/namespace.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { keyOf, splitKey, type ObjectKey } from '../api/meta/object.ts'
import { networkPolicy, type NetworkPolicy } from '../api/networking/v1/network-policy.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import {
  mergeCauses,
  type Cause,
  type FlowId,
  type FlowObject,
  type FlowRecorder,
} from '../base/observability/flow-recorder.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { Log } from '../base/observability/log.ts'
import type { Clock } from '../base/time/clock.ts'
import type { ObjectChange } from '../client/informer/informer.ts'
import type { Informers } from '../client/informer/informers.ts'
import { filterBridges } from '../machine/kernel-settings/filter-bridges.ts'
import type { KernelSettings } from '../machine/kernel-settings/kernel-settings.ts'
import type { Nftables } from '../machine/nftables/nftables.ts'
import { removeTable, TableSync, type TableTransaction } from '../machine/nftables/table-sync.ts'
import { presenceCommands, probeCommands, removalCommands } from './nftables/policy-layout.ts'
import { PolicyTable, type PolicyTableOptions } from './nftables/policy-table.ts'
import { podFacts } from './rules/pod-facts.ts'

export interface PolicyAgentDeps extends PolicyTableOptions {
  readonly informers: Pick<Informers, 'of'>
  readonly nftables: Nftables
  readonly kernelSettings: KernelSettings
  readonly clock: Clock
  readonly log: Log
  readonly flow: FlowRecorder
}

/** Changes of more objects, as at the start, are one flow event. */
const flowEventsPerSyncMax = 100

/** Further causes of one change are not recorded. */
const causesMax = 16

interface ChangedObject {
  readonly object: FlowObject
  readonly causes: Cause[]
}

/** Runs in `tasks` until they are stopped. The rules remain, so that pods stay protected while the agent is restarted. */
export function startPolicyAgent(deps: PolicyAgentDeps, tasks: TaskGroup): PolicyAgent {
  const agent = new PolicyAgent(deps)
  tasks.start('network policies', (signal) => agent.run(signal))
  return agent
}

/** Removes the rules of the agent, and no others. */
export async function removePolicyRules(nftables: Nftables): Promise<void> {
  await removeTable(nftables, 'network policies', removalCommands)
}

export class PolicyAgent {
  readonly #deps: PolicyAgentDeps
  readonly #table: PolicyTable
  readonly #sync: TableSync
  readonly #informersSynced: Promise<unknown>
  /** The addresses of sandboxes that were started since the start of the agent. They are known before the API has them. */
  readonly #sandboxes = new Map<ObjectKey, readonly string[]>()
  /** The causes of changes that have not been applied, by object. */
  #causes = new Map<string, ChangedObject>()
  /** Resolves when what has changed up to now is applied. */
  #applied = Promise.withResolvers<void>()

  constructor(deps: PolicyAgentDeps) {
    this.#deps = deps
    this.#table = new PolicyTable(deps)
    this.#sync = new TableSync(
      { subject: 'network policies', presenceCommands, probeCommands, next: (isFull) => this.#next(isFull) },
      deps,
    )
    const { informers } = deps
    const [pods, namespaces, policies] = [informers.of(pod), informers.of(namespace), informers.of(networkPolicy)]
    namespaces.onChange((change) => this.#observeNamespace(change))
    pods.onChange(({ key, now, cause }) => this.#observePod(key, now, cause))
    policies.onChange((change) => this.#observePolicy(change))
    this.#informersSynced = Promise.all([pods.synced, namespaces.synced, policies.synced])
  }

  /** Resolves when the rules were applied for the first time. */
  get synced(): Promise<void> {
    return this.#sync.synced
  }

  /** Applies the rules of a pod whose sandbox was started. Its containers must not start before this resolves. */
  async protect(started: Pod, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#informersSynced, signal)
    this.#sandboxes.set(keyOf(started), addresses)
    this.#observePod(keyOf(started), started)
    await this.applied(signal)
  }

  /** Resolves when the kernel has the rules for all that is known now. */
  async applied(signal: AbortSignal): Promise<void> {
    this.#sync.queue()
    await unlessAborted(this.#applied.promise, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { kernelSettings, clock, log } = this.#deps
    // Packets between two pods of one bridge must pass the rules as well.
    for (const setting of await filterBridges(kernelSettings, clock))
      log.error('network policies do not apply between pods of one bridge: load the kernel module br_netfilter', {
        setting,
      })
    await unlessAborted(this.#informersSynced, signal)
    await this.#sync.run(signal)
  }

  #observeNamespace({ now, key }: ObjectChange<Namespace>): void {
    this.#table.setNamespace(splitKey(key).name, now === undefined ? undefined : (now.metadata.labels ?? {}))
    this.#sync.queue()
  }

  #observePod(key: ObjectKey, now: Pod | undefined, cause?: Cause): void {
    const facts = now === undefined ? undefined : podFacts(now)
    if (facts === undefined) this.#sandboxes.delete(key)
    const addresses = this.#sandboxes.get(key)
    const known = facts === undefined || addresses === undefined ? facts : { ...facts, addresses }
    if (this.#table.setPod(key, known) && cause !== undefined) this.#note('pods', key, cause)
    this.#sync.queue()
  }

  #observePolicy({ key, now, cause }: ObjectChange<NetworkPolicy>): void {
    this.#table.setPolicy(key, now)
    this.#note('networkpolicies', key, cause)
    this.#sync.queue()
  }

  #note(resource: string, key: ObjectKey, cause: Cause): void {
    const id = `${resource} ${key}`
    const { causes } = getOrInsert(this.#causes, id, () => ({ object: { resource, ...splitKey(key) }, causes: [] }))
    if (causes.length < causesMax) causes.push(cause)
  }

  #next(isFull: boolean): TableTransaction {
    const [applied, causes] = [this.#applied, this.#causes]
    this.#applied = Promise.withResolvers<void>()
    this.#causes = new Map()
    const commands = isFull ? this.#table.all() : this.#table.changes()
    const recorded = commands.length === 0 ? [] : this.#recordFlow(causes)
    return {
      commands,
      isFull,
      finish: (result, isInDoubt) => {
        const outcome = result.kind === 'applied' ? 'ok' : result.messages.join('; ')
        for (const id of recorded) this.#deps.flow.finish(id, outcome)
        if (!isInDoubt) return applied.resolve()
        // Who waits for these changes waits for the next transaction.
        this.#applied.promise.then(applied.resolve, applied.reject)
      },
    }
  }

  #recordFlow(changed: ReadonlyMap<string, ChangedObject>): readonly FlowId[] {
    const { flow, nodeName } = this.#deps
    const from = `network-policy/${nodeName}`
    if (changed.size > flowEventsPerSyncMax)
      return [flow.record('call', from, 'Network', `apply the rules of ${changed.size} policies and pods`)]
    return Array.from(changed.values(), ({ object, causes }) =>
      flow.record('call', from, 'Network', 'apply rules', object, 0, mergeCauses(causes)),
    )
  }
}
