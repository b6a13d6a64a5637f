// DefaultPreemption: when no node fits, pods of lower priority may be preempted. The plugin selects the best candidate,
// nominates its node and deletes the victims concurrently with further scheduling.
import { rfc3339 } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, namespaceOf } from '../../api/meta/object.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import {
  defineSchedulerPlugin,
  type Cycle,
  type FilterRun,
  type PluginDeps,
  type PostFilterResult,
  type SchedulerPlugin,
} from '../framework/framework.ts'
import { preemptWithExtenders, interestedExtenders } from '../cycle/extender-calls.ts'
import { bestCandidate, victimsOn, type Candidate, type DryRun } from '../preemption/preemption.ts'
import { equivalenceKey } from '../cycle/equivalence-cache.ts'
import { SlotCache } from '../cycle/slot-cache.ts'
import { summary } from '../framework/verdicts.ts'

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage?: number
  readonly minCandidateNodesAbsolute?: number
}

export const defaultPreemption = defineSchedulerPlugin({
  name: 'DefaultPreemption',
  watches: [podDisruptionBudget],
  eventsToRegister: [],
  configure: (args, deps) => new PreemptionEvaluator((args as DefaultPreemptionArgs | undefined) ?? {}, deps).points(),
})

const failed = (message: string, forgetsNomination = false): PostFilterResult => ({
  kind: 'failed',
  message: `preemption: ${message}`,
  clearsNomination: forgetsNomination,
})

class PreemptionEvaluator {
  readonly #args: DefaultPreemptionArgs
  readonly #deps: PluginDeps
  /** Uids of pods whose victims are being deleted. They are gated until that is done. */
  readonly #preempting = new Set<string>()
  /** Results for the last equivalence class of pods, by slot. */
  #equivalenceKey = ''
  #dryRuns = new SlotCache<DryRun>()

  constructor(args: DefaultPreemptionArgs, deps: PluginDeps) {
    this.#args = args
    this.#deps = deps
  }

  points(): Partial<SchedulerPlugin> {
    return {
      preEnqueue: ({ metadata: { uid } }) =>
        this.#preempting.has(uid) ? 'waiting for the preemption for this pod to be finished' : undefined,
      postFilter: (run, ctx) => this.#postFilter(run, ctx),
    }
  }

  #postFilter(run: FilterRun, ctx: Context): PostFilterResult | Promise<PostFilterResult> {
    const { pod, snapshot } = run.cycle
    this.#deps.metrics.preemptionAttempts.add({})
    const refusal = this.#ineligibleReason(run)
    if (refusal !== undefined) return failed(refusal)
    const potential = run.verdicts.resolvable(snapshot.order)
    const { candidates, reasons } = this.#dryRun(run, potential)
    if (candidates.length === 0) {
      const rest = ['Preemption is not helpful for scheduling', snapshot.size - reasons.length] as const
      const counts = [
        ...reasons.flatMap((list) => list.map((reason) => [reason, 1] as const)),
        ...(rest[1] > 0 ? [rest] : []),
      ]
      return failed(summary(snapshot.size, counts), true)
    }
    if (!interestedExtenders(this.#deps, pod).some(({ preempt }) => preempt !== undefined))
      return this.#nominate(pod, candidates, ctx)
    const agreement = preemptWithExtenders(pod, candidates, snapshot, this.#deps, ctx.signal)
    return agreement.then((agreed) => this.#nominate(pod, agreed, ctx))
  }

  /** Why the pod may not preempt others. */
  #ineligibleReason({ cycle: { pod, facts, snapshot }, verdicts }: FilterRun): string | undefined {
    if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
    const nominated = this.#deps.nominator.nodeOf(pod) ?? pod.status.nominatedNodeName
    const slot = nominated === undefined ? undefined : snapshot.slotOf(nominated)
    if (slot === undefined || !verdicts.isResolvable(slot)) return undefined
    for (const placed of snapshot.podsOn(slot))
      if (placed.facts.priority < facts.priority && isLeavingForAnother(placed.pod))
        return 'not eligible due to a terminating pod on the nominated node.'
    return undefined
  }

  /** Simulates preemption from a random node on, until there are enough candidates. */
  #dryRun(run: FilterRun, potential: Int32Array): { candidates: Candidate[]; reasons: (readonly string[])[] } {
    const { minCandidateNodesPercentage: percentage = 10, minCandidateNodesAbsolute: least = 100 } = this.#args
    const enough = Math.max(Math.floor((potential.length * percentage) / 100), least)
    const budgets = [...this.#deps.informers.of(podDisruptionBudget).all()]
    const kind = run.isLocal ? kindOf(run.cycle, this.#deps.informers.of(podDisruptionBudget).revision) : ''
    if (kind === '' || kind !== this.#equivalenceKey) this.#dryRuns = new SlotCache()
    this.#equivalenceKey = kind
    const start = potential.length === 0 ? 0 : this.#deps.random.below(potential.length)
    const candidates: Candidate[] = []
    const reasons: (readonly string[])[] = []
    let harmless = 0
    for (let index = 0; index < potential.length; index++) {
      if (candidates.length >= enough && harmless > 0) break
      const slot = potential[(start + index) % potential.length] as number
      const found = this.#dryRunNode(run, slot, budgets)
      if ('kind' in found) reasons.push(found.reasons)
      else if (candidates.push(found) > 0 && found.violations === 0) harmless++
    }
    return { candidates, reasons }
  }

  #dryRunNode(run: FilterRun, slot: number, budgets: Parameters<typeof victimsOn>[2]): DryRun {
    const { snapshot } = run.cycle
    // A nomination changes the result, but not the version of the slot.
    if (this.#equivalenceKey === '' || this.#deps.nominator.hasNominated(snapshot.nameAt(slot)))
      return victimsOn(run, slot, budgets)
    const version = snapshot.versionOf(slot)
    if (!this.#dryRuns.has(slot, version)) this.#dryRuns.set(slot, version, victimsOn(run, slot, budgets))
    return this.#dryRuns.get(slot)
  }

  #nominate(pod: Pod, candidates: readonly Candidate[], ctx: Context): PostFilterResult {
    const { snapshot, nominator, startTask, metrics } = this.#deps
    const best = bestCandidate(candidates)
    if (best === undefined) return failed('no candidate node for preemption')
    metrics.preemptionVictims.observe({}, best.victims.length)
    const nodeName = snapshot.nameAt(best.slot)
    const demoted = [...nominator.nominatedTo(nodeName)].filter(
      (nominatedPod) => (nominatedPod.spec.priority ?? 0) < (pod.spec.priority ?? 0),
    )
    for (const nominatedPod of demoted) nominator.set(nominatedPod, undefined)
    this.#preempting.add(pod.metadata.uid)
    startTask('preempt', (signal) => this.#deleteVictims(pod, best, nodeName, demoted, context(signal, ctx.cause)))
    return { kind: 'nominated', nodeName }
  }

  /**
   * Deletes the victims. Then the pod is ungated. If a victim could not be deleted, no event may follow that moves the pod out
   * of the unschedulable pods, so that it is retried after its backoff.
   */
  async #deleteVictims(
    pod: Pod,
    { victims }: Candidate,
    nodeName: string,
    demoted: readonly Pod[],
    ctx: Context,
  ): Promise<void> {
    const { client, log, retryPreEnqueue, retryAfterBackoff, clock, metrics } = this.#deps
    const sinceMs = clock.monotonicMs()
    let result: 'success' | 'error' = 'error'
    try {
      await Promise.all(victims.map((victim) => this.#deleteVictim(pod, victim.pod, nodeName, ctx)))
      for (const nominatedPod of demoted)
        await client
          .of(podKind)
          .patch(
            nominatedPod.metadata.name,
            namespaceOf(nominatedPod),
            { status: { nominatedNodeName: null } },
            'merge',
            ctx,
            'status',
          )
      result = 'success'
    } catch (error) {
      if (!ctx.signal.aborted && !hasReason(error, 'NotFound'))
        log.warn('a victim of preemption could not be deleted', { node: nodeName, error: errorText(error) })
    } finally {
      metrics.preemptions.add({ result })
      metrics.preemptionSeconds.observe({ result }, (clock.monotonicMs() - sinceMs) / 1000)
      this.#preempting.delete(pod.metadata.uid)
      if (result === 'success') retryPreEnqueue(pod)
      else retryAfterBackoff(pod)
    }
  }

  async #deleteVictim(pod: Pod, victim: Pod, nodeName: string, ctx: Context): Promise<void> {
    const { client, clock, schedulerName, recordEvent } = this.#deps
    const { name, uid, generation } = victim.metadata
    const pods = client.of(podKind)
    try {
      if (!isBeingDeleted(victim)) {
        const condition = {
          type: 'DisruptionTarget',
          status: 'True',
          reason: preempted,
          message: `${schedulerName}: preempting to accommodate a higher priority pod`,
          lastTransitionTime: rfc3339(clock.nowMs()),
          ...(generation && { observedGeneration: generation }),
        }
        const patch = { metadata: { uid }, status: { conditions: [condition] } }
        await pods.patch(name, namespaceOf(victim), patch, 'strategic', ctx, 'status')
        await pods.delete(name, namespaceOf(victim), { uid }, ctx)
      }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return
      // A StatefulSet gives the next pod the same name.
      const now = hasReason(error, 'Conflict') ? await pods.find(name, namespaceOf(victim), ctx) : victim
      if (now?.metadata.uid !== uid) return
      throw error
    }
    const message = `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`
    const note = { type: 'Normal', reason: 'Preempted', action: 'Preempting', message, related: pod } as const
    recordEvent(victim, note, ctx)
  }
}

const preempted = 'PreemptionByScheduler'

const isLeavingForAnother = (pod: Pod): boolean => {
  const condition = podCondition(pod, 'DisruptionTarget')
  return isBeingDeleted(pod) && condition?.status === 'True' && condition.reason === preempted
}

/** The same for pods with the same preemption result on every node. */
const kindOf = (cycle: Cycle, budgetsRevision: number): string =>
  `${budgetsRevision} ${cycle.facts.priority} ${equivalenceKey(cycle)}`
