// DefaultPreemption: when nothing fits, less important pods may have to go. It chooses where this hurts least,
// nominates the node, and removes the victims while other pods are scheduled.
import { rfc3339 } from '../../base/clock.ts'
import { context, type Context } from '../../base/context.ts'
import { errorText } from '../../base/log.ts'
import { podCondition } from '../../api/core/v1/pod-readiness.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod.ts'
import { isBeingDeleted, namespaceOf } from '../../api/object.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { hasReason } from '../../api/status-error.ts'
import {
  defineSchedulerPlugin,
  type Cycle,
  type FilterRun,
  type PluginParts,
  type PostFilterResult,
  type SchedulerPlugin,
} from '../framework.ts'
import { agreeOnVictims, interested } from '../extending.ts'
import { bestCandidate, victimsOn, type Candidate, type DryRun } from '../preemption.ts'
import { demandsKey } from '../shared-findings.ts'
import { SlotMemo } from '../slot-memo.ts'
import { summary } from '../verdicts.ts'

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage?: number
  readonly minCandidateNodesAbsolute?: number
}

export const defaultPreemption = defineSchedulerPlugin({
  name: 'DefaultPreemption',
  watches: [podDisruptionBudget],
  wakesOn: [],
  configure: (args, parts) => new Preempting((args as DefaultPreemptionArgs | undefined) ?? {}, parts).points(),
})

const failed = (message: string, forgetsNomination = false): PostFilterResult => ({
  kind: 'failed',
  message: `preemption: ${message}`,
  forgetsNomination,
})

class Preempting {
  readonly #args: DefaultPreemptionArgs
  readonly #parts: PluginParts
  /** Uids of pods whose victims are being removed; they do not try again before that is done. */
  readonly #underWay = new Set<string>()
  /** What was found for the last kind of pod, by slot: pods that are alike share it. */
  #kind = ''
  #remembered = new SlotMemo<DryRun>()

  constructor(args: DefaultPreemptionArgs, parts: PluginParts) {
    this.#args = args
    this.#parts = parts
  }

  points(): Partial<SchedulerPlugin> {
    return {
      preEnqueue: ({ metadata: { uid } }) =>
        this.#underWay.has(uid) ? 'waiting for the preemption for this pod to be finished' : undefined,
      postFilter: (run, ctx) => this.#postFilter(run, ctx),
    }
  }

  #postFilter(run: FilterRun, ctx: Context): PostFilterResult | Promise<PostFilterResult> {
    const { pod, snapshot } = run.cycle
    this.#parts.metrics.preemptionAttempts.add({})
    const refusal = this.#whyNot(run)
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
    if (!interested(this.#parts, pod).some(({ preempt }) => preempt !== undefined))
      return this.#choose(pod, candidates, ctx)
    const asked = agreeOnVictims(pod, candidates, snapshot, this.#parts, ctx.signal)
    return asked.then((agreed) => this.#choose(pod, agreed, ctx))
  }

  /** Why the pod may not have others removed. */
  #whyNot({ cycle: { pod, facts, snapshot }, verdicts }: FilterRun): string | undefined {
    if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
    const nominated = this.#parts.nominator.nodeOf(pod) ?? pod.status.nominatedNodeName
    const slot = nominated === undefined ? undefined : snapshot.slotOf(nominated)
    if (slot === undefined || !verdicts.isResolvable(slot)) return undefined
    for (const placed of snapshot.podsOn(slot))
      if (placed.facts.priority < facts.priority && isLeavingForAnother(placed.pod))
        return 'not eligible due to a terminating pod on the nominated node.'
    return undefined
  }

  /** Tries nodes from a random one on until enough candidates are found. */
  #dryRun(run: FilterRun, potential: Int32Array): { candidates: Candidate[]; reasons: (readonly string[])[] } {
    const { minCandidateNodesPercentage: percentage = 10, minCandidateNodesAbsolute: least = 100 } = this.#args
    const enough = Math.max(Math.floor((potential.length * percentage) / 100), least)
    const budgets = [...this.#parts.informers.of(podDisruptionBudget).all()]
    const kind = run.isLocal ? kindOf(run.cycle, this.#parts.informers.of(podDisruptionBudget).revision) : ''
    if (kind === '' || kind !== this.#kind) this.#remembered = new SlotMemo()
    this.#kind = kind
    const start = potential.length === 0 ? 0 : this.#parts.random.below(potential.length)
    const candidates: Candidate[] = []
    const reasons: (readonly string[])[] = []
    let harmless = 0
    for (let index = 0; index < potential.length; index++) {
      if (candidates.length >= enough && harmless > 0) break
      const slot = potential[(start + index) % potential.length] as number
      const found = this.#tryNode(run, slot, budgets)
      if ('kind' in found) reasons.push(found.reasons)
      else if (candidates.push(found) > 0 && found.violations === 0) harmless++
    }
    return { candidates, reasons }
  }

  #tryNode(run: FilterRun, slot: number, budgets: Parameters<typeof victimsOn>[2]): DryRun {
    const { snapshot } = run.cycle
    if (this.#remembered.knows(slot, snapshot.versionOf(slot))) return this.#remembered.get(slot)
    const found = victimsOn(run, slot, budgets)
    const isWaitedFor = this.#parts.nominator.isWaitedFor(snapshot.nameAt(slot))
    if (this.#kind !== '' && !isWaitedFor) this.#remembered.set(slot, snapshot.versionOf(slot), found)
    return found
  }

  #choose(pod: Pod, candidates: readonly Candidate[], ctx: Context): PostFilterResult {
    const { snapshot, nominator, startTask, metrics } = this.#parts
    const best = bestCandidate(candidates)
    if (best === undefined) return failed('no candidate node for preemption')
    metrics.preemptionVictims.observe({}, best.victims.length)
    const nodeName = snapshot.nameAt(best.slot)
    const demoted = [...nominator.on(nodeName)].filter((rival) => (rival.spec.priority ?? 0) < (pod.spec.priority ?? 0))
    for (const rival of demoted) nominator.set(rival, undefined)
    this.#underWay.add(pod.metadata.uid)
    startTask('preempt', (signal) => this.#remove(pod, best, nodeName, demoted, context(signal, ctx.cause)))
    return { kind: 'nominated', nodeName }
  }

  /** Removes the victims; whatever fails, the pod may try again afterwards. */
  async #remove(
    pod: Pod,
    { victims }: Candidate,
    nodeName: string,
    demoted: readonly Pod[],
    ctx: Context,
  ): Promise<void> {
    const { client, log, letIn, clock, metrics } = this.#parts
    const sinceMs = clock.monotonicMs()
    let result = 'error'
    try {
      await Promise.all(victims.map((victim) => this.#removeVictim(pod, victim.pod, nodeName, ctx)))
      for (const rival of demoted)
        await client
          .of(podKind)
          .patch(
            rival.metadata.name,
            namespaceOf(rival),
            { status: { nominatedNodeName: null } },
            'merge',
            ctx,
            'status',
          )
      result = 'success'
    } catch (error) {
      if (!ctx.signal.aborted && !hasReason(error, 'NotFound'))
        log.warn('a pod could not be removed for another', { node: nodeName, error: errorText(error) })
    } finally {
      metrics.preemptions.add({ result })
      metrics.preemptionSeconds.observe({ result }, (clock.monotonicMs() - sinceMs) / 1000)
      this.#underWay.delete(pod.metadata.uid)
      letIn(pod)
    }
  }

  async #removeVictim(pod: Pod, victim: Pod, nodeName: string, ctx: Context): Promise<void> {
    const { client, clock, schedulerName, tell } = this.#parts
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
        await pods.patch(name, namespaceOf(victim), { status: { conditions: [condition] } }, 'strategic', ctx, 'status')
        await pods.delete(name, namespaceOf(victim), { uid }, ctx)
      }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return
      throw error
    }
    const message = `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`
    const note = { type: 'Normal', reason: 'Preempted', action: 'Preempting', message, related: pod } as const
    tell(victim, note, ctx)
  }
}

const preempted = 'PreemptionByScheduler'

const isLeavingForAnother = (pod: Pod): boolean => {
  const condition = podCondition(pod, 'DisruptionTarget')
  return isBeingDeleted(pod) && condition?.status === 'True' && condition.reason === preempted
}

/** The same for pods for which the same nodes would be cleared in the same way. */
const kindOf = (cycle: Cycle, budgetsRevision: number): string =>
  `${budgetsRevision} ${cycle.facts.priority} ${demandsKey(cycle)}`
