// The policy agent of a node: keeps the rules of the kernel equal to the NetworkPolicies of the cluster. The kernel has the
// old rules or the new ones at any time, so a pod is never open in between, nor while the agent is restarted.
import { namespace, type Namespace } from '../api/core/v1/namespace.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { keyOf, splitKey, type ObjectKey } from '../api/meta/object.ts'
import { networkPolicy, type NetworkPolicy } from '../api/networking/v1/network-policy.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { parseCidrs } from '../base/net/cidr.ts'
import { parseInterfaceName } from '../base/net/interface-name.ts'
import type { IpAddress } from '../base/net/ip-address.ts'
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
import { HeldChanges } from '../machine/nftables/held-changes.ts'
import { rejectedObjects } from '../machine/nftables/rejected-objects.ts'
import { removeTable, TableSync, type TableTransaction } from '../machine/nftables/table-sync.ts'
import { presenceCommands, probeCommands, removalCommands, trialEnd } from './nftables/policy-layout.ts'
import { PolicyTable, type PolicyTableOptions } from './nftables/policy-table.ts'
import type { PolicyReports } from './policy-reports.ts'
import { podAddresses, podFacts } from './rules/pod-facts.ts'

export interface PolicyAgentDeps extends Pick<PolicyTableOptions, 'nodeName'> {
  /** The addresses of the pods of this node. Those that are not known as a pod are closed. */
  readonly ownRanges: readonly string[]
  /** The bridge of the pods. */
  readonly bridge?: string
  /** Of policies that cannot be enforced as written. The log has them in any case. */
  readonly reports?: PolicyReports
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

/** A policy that the kernel rejects is tried again when it changes, after this time at the earliest. */
const rejectedMs = 60_000
/** A policy about which the kernel was not asked in time is tried again after this time. */
const undecidedMs = 1_000

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
  readonly #sandboxes = new Map<ObjectKey, readonly IpAddress[]>()
  /** The causes of changes that have not been applied, by object. */
  #causes = new Map<string, ChangedObject>()
  readonly #policies = new Map<ObjectKey, NetworkPolicy>()
  /** Policies that have changed since the kernel had all rules. */
  readonly #changed = new Set<ObjectKey>()
  /** Policies whose rules the kernel rejects. They are left out, so that those of the others are in effect. */
  readonly #rejected = new HeldChanges<ObjectKey, ObjectKey>()
  /** Resolves when what has changed up to now is applied. */
  #applied = Promise.withResolvers<void>()

  constructor(deps: PolicyAgentDeps) {
    this.#deps = deps
    const bridge = parseInterfaceName(deps.bridge ?? '')
    this.#table = new PolicyTable({
      nodeName: deps.nodeName,
      ownRanges: parseCidrs(deps.ownRanges),
      ...(bridge === undefined ? {} : { bridge }),
    })
    this.#sync = new TableSync(
      {
        subject: 'network policies',
        presenceCommands,
        probeCommands,
        next: (isFull) => this.#next(isFull),
        beforeCheck: () => Promise.resolve(this.#queueDue()),
      },
      deps,
    )
    const { informers } = deps
    const pods = informers.of(pod)
    const namespaces = informers.of(namespace)
    const policies = informers.of(networkPolicy)
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
    this.#sandboxes.set(keyOf(started), podAddresses(addresses))
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
    if (now === undefined) {
      this.#policies.delete(key)
      this.#rejected.forget(key)
    } else this.#policies.set(key, now)
    this.#changed.add(key)
    this.#table.setPolicy(key, now, this.#rejected.admits(key, key, this.#deps.clock.nowMs()))
    this.#note('networkpolicies', key, cause)
    this.#sync.queue()
  }

  #queueDue(): void {
    if (this.#rejected.hasDue(this.#deps.clock.nowMs())) this.#sync.queue()
  }

  /** Finds the policies because of which the kernel rejects the table, and leaves out their rules. */
  async #leaveOutRejected(): Promise<void> {
    const { nftables, clock } = this.#deps
    const accepted: ObjectKey[] = []
    const suspects: ObjectKey[] = []
    for (const key of this.#table.policies) (this.#changed.has(key) ? suspects : accepted).push(key)
    const trialCommands = (keys: readonly ObjectKey[]) => [...this.#table.all(new Set(keys)), trialEnd]
    const { rejected, undecided } = await rejectedObjects({ nftables, accepted, suspects, trialCommands })
    for (const [key, message] of rejected) {
      this.#rejected.hold(key, clock.nowMs() + rejectedMs)
      this.#report(key, `the kernel rejects them: ${message}`)
    }
    for (const key of undecided) this.#rejected.hold(key, clock.nowMs() + undecidedMs, key)
    for (const key of [...rejected.keys(), ...undecided]) this.#table.setPolicy(key, this.#policies.get(key), false)
  }

  #report(key: ObjectKey, problem: string): void {
    const { log, reports } = this.#deps
    const policy = this.#policies.get(key)
    log.error('the rules of a network policy are not in effect', { policy: key, problem })
    if (policy !== undefined) reports?.notEnforced(policy, problem)
  }

  #note(resource: string, key: ObjectKey, cause: Cause): void {
    const id = `${resource} ${key}`
    const { causes } = getOrInsert(this.#causes, id, () => ({ object: { resource, ...splitKey(key) }, causes: [] }))
    if (causes.length < causesMax) causes.push(cause)
  }

  #next(isFull: boolean): TableTransaction {
    for (const key of this.#rejected.takeDue(this.#deps.clock.nowMs())) {
      this.#table.setPolicy(key, this.#policies.get(key))
      this.#changed.add(key)
    }
    const applied = this.#applied
    const causes = this.#causes
    this.#applied = Promise.withResolvers<void>()
    this.#causes = new Map()
    const commands = isFull ? this.#table.all() : this.#table.changes()
    const recorded = commands.length === 0 ? [] : this.#recordFlow(causes)
    return {
      commands,
      isFull,
      finish: async (result, needsFullSync) => {
        const outcome = result.kind === 'applied' ? 'ok' : result.messages.join('; ')
        for (const id of recorded) this.#deps.flow.finish(id, outcome)
        for (const key of this.#table.takeOversized()) this.#report(key, 'there are too many')
        if (!needsFullSync) {
          this.#changed.clear()
          return applied.resolve()
        }
        // Who waits for these changes waits for the next transaction.
        this.#applied.promise.then(applied.resolve, applied.reject)
        if (result.kind === 'failed' && isFull) await this.#leaveOutRejected()
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
