// EvictionManager: checks the eviction thresholds every ten seconds. When one is met it first reclaims disk space from
// exited containers and unused images, then evicts one pod at a time, and reports the pressure conditions of the node.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { qosClassOf } from '../../api/core/v1/pod-spec/qos.ts'
import { tolerates } from '../../api/core/v1/node/tolerations.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import { contentsOf } from '../stats/disk-layout.ts'
import type { NodeStats } from '../stats/node-stats.ts'
import type { Summary } from '../stats/summary.ts'
import { diskLimitMessage, evictionMessage } from './eviction-messages.ts'
import { ThresholdState } from './threshold-state.ts'
import { isCritical, rankForEviction, type Candidate } from './eviction-ranking.ts'
import { fileSystemOf, observe, resourceOf, type Observations, type PressureCondition } from './eviction-signals.ts'
import type { Threshold } from './thresholds.ts'

export interface Eviction {
  readonly pod: Pod
  readonly message: string
  readonly graceSeconds: number
}

export interface EvictionSettings {
  readonly thresholds: readonly Threshold[]
  /** Maximum grace period of pods that are evicted because of a soft threshold. */
  readonly evictionPodGraceSecondsMax: number
  /** How long a pressure condition is kept after its cause is gone. */
  readonly pressureTransitionMs: number
}

/** Called when the pressure conditions of the node have changed. */
export type OnConditions = (conditions: readonly PressureCondition[], signal: AbortSignal) => Promise<void>

export interface EvictionManagerDeps {
  readonly stats: Pick<NodeStats, 'fresh' | 'layout'>
  readonly settings: EvictionSettings
  readonly pods: () => readonly Pod[]
  /** Removes exited containers, unused images, or both, depending on the file system that is short. */
  readonly reclaimDisk: (what: { images: boolean; containers: boolean }, signal: AbortSignal) => Promise<void>
  readonly evict: (eviction: Eviction, signal: AbortSignal) => Promise<void>
  /** Called when the node starts to reclaim a resource. */
  readonly onReclaim: (resource: string, signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

const checkIntervalMs = 10_000
/** How long an evicted pod is awaited before the next check, and how often its status is checked. */
const goneMsMax = 30_000
const goneCheckMs = 1_000
/** Grace period of pods that exceed a hard threshold or their own limit. */
const immediateGraceSeconds = 1

export class EvictionManager {
  readonly #deps: EvictionManagerDeps
  readonly #state: ThresholdState
  #conditions: readonly PressureCondition[] = []

  constructor(deps: EvictionManagerDeps) {
    const { thresholds, pressureTransitionMs } = deps.settings
    this.#deps = deps
    this.#state = new ThresholdState(thresholds, pressureTransitionMs)
  }

  get conditions(): readonly PressureCondition[] {
    return this.#conditions
  }

  /** Why the pod cannot be admitted under the current conditions; undefined when it can. */
  rejection(pod: Pod): string | undefined {
    if (this.#conditions.length === 0 || isCritical(pod)) return undefined
    if (this.#conditions.every((condition) => condition === 'MemoryPressure')) {
      const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' as const }
      const isBound = qosClassOf(pod.spec) !== 'BestEffort'
      if (isBound || tolerates(pod.spec.tolerations ?? [], taint)) return undefined
    }
    return `The node had condition: [${this.#conditions.join(' ')}]. `
  }

  async run(onConditions: OnConditions, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    for (;;) {
      const evicted = await this.#check(onConditions, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        log.debug('the eviction thresholds could not be checked', { error: errorText(error) })
        return []
      })
      if (evicted.length === 0) await clock.sleep(checkIntervalMs, signal)
      else await this.#waitUntilGone(evicted, signal)
    }
  }

  async #waitUntilGone(uids: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, pods } = this.#deps
    const untilMs = clock.monotonicMs() + goneMsMax
    const isPresent = () => pods().some((pod) => uids.includes(pod.metadata.uid) && !isPodFinished(pod))
    do await clock.sleep(goneCheckMs, signal)
    while (isPresent() && clock.monotonicMs() < untilMs)
  }

  /** Returns the uids of the evicted pods. */
  async #check(onConditions: OnConditions, signal: AbortSignal): Promise<readonly string[]> {
    const { stats, clock } = this.#deps
    const summary = await stats.fresh(signal)
    const tooLarge = await this.#evictBeyondLimits(summary, signal)
    const observations = observe(summary)
    const due = this.#state.update(observations, clock.nowMs())
    await this.#updateConditions(onConditions, signal)
    if (tooLarge.length > 0) return tooLarge
    const [threshold] = due
    return threshold === undefined ? [] : this.#reclaim(threshold, observations, summary, signal)
  }

  async #updateConditions(onConditions: OnConditions, signal: AbortSignal): Promise<void> {
    const now = this.#state.conditions(this.#deps.clock.nowMs())
    if (now.join() === this.#conditions.join()) return
    this.#conditions = now
    await onConditions(now, signal)
  }

  #candidates({ pods: all }: Summary): Candidate[] {
    return this.#deps.pods().flatMap((pod) => {
      const stats = all.find(({ podRef }) => podRef.uid === pod.metadata.uid)
      return stats === undefined || isPodFinished(pod) || isBeingDeleted(pod) ? [] : [{ pod, stats }]
    })
  }

  async #evictBeyondLimits(summary: Summary, signal: AbortSignal): Promise<readonly string[]> {
    const uids: string[] = []
    for (const candidate of this.#candidates(summary)) {
      const message = diskLimitMessage(candidate)
      if (message === undefined || isCritical(candidate.pod)) continue
      await this.#deps.evict({ pod: candidate.pod, message, graceSeconds: immediateGraceSeconds }, signal)
      uids.push(candidate.pod.metadata.uid)
    }
    return uids
  }

  async #reclaim(
    threshold: Threshold,
    observations: Observations,
    summary: Summary,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { onReclaim, reclaimDisk, evict, settings, stats } = this.#deps
    const resource = resourceOf(threshold.signal)
    await onReclaim(resource, signal)
    const fileSystem = fileSystemOf(threshold.signal)
    const contents = fileSystem === undefined ? undefined : contentsOf(stats.layout, fileSystem)
    if (contents?.images || contents?.containers) {
      await reclaimDisk(contents, signal)
      const after = observe(await stats.fresh(signal))
      if (this.#state.update(after, this.#deps.clock.nowMs()).length === 0) return []
    }
    const observed = observations.get(threshold.signal)
    const [first] = rankForEviction(
      this.#candidates(summary).filter(({ pod }) => !isCritical(pod)),
      resource,
      contents,
    )
    if (first === undefined || observed === undefined) return []
    const message = evictionMessage(threshold, observed, first)
    const isHard = threshold.graceMs === 0
    const graceSeconds = isHard ? immediateGraceSeconds : settings.evictionPodGraceSecondsMax
    await evict({ pod: first.pod, message, graceSeconds }, signal)
    return [first.pod.metadata.uid]
  }
}
