// PodReporter: tells the API server what has become of a pod.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { equalExcept } from '../../schema/json/json-value.ts'
import type { Client } from '../../client/client.ts'
import type { ContainerRuntime, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import type { PodProvisioner } from '../container/pod-provisioner.ts'
import type { PodSyncState } from '../pod/pod-sync-state.ts'
import { podStatus } from './pod-status.ts'
import type { ProbeManager } from '../probes/probe-manager.ts'
import { withResize } from '../resources/resize.ts'
import type { StaticPods } from '../sources/static-pods.ts'
import { statusPatch } from './status-patch.ts'

export interface PodStatusManagerDeps {
  readonly client: Client
  readonly runtime: Pick<ContainerRuntime, 'name'>
  readonly maker: Pick<PodProvisioner, 'lastWords'>
  readonly probes: ProbeManager
  /** Undefined where the node has no pods of its own. */
  readonly staticPods: StaticPods | undefined
  readonly clock: Clock
  readonly hostIp: string
}

/** How long a status stays that somebody else has changed: who contradicts at once is contradicted at once. */
const contradictMs = 10_000

export class PodStatusManager {
  readonly #deps: PodStatusManagerDeps

  constructor(deps: PodStatusManagerDeps) {
    this.#deps = deps
  }

  /** Tells what there is to tell; returns the pod as it is now, undefined when it is gone. */
  async report(
    wanted: Pod,
    running: RuntimePod | undefined,
    memory: PodSyncState,
    context: Context,
  ): Promise<Pod | undefined> {
    const { clock, hostIp, runtime, probes } = this.#deps
    memory.reportInMs = undefined
    if (mayHaveEnded(running, memory)) await this.#hearLastWords(wanted, running, memory, context)
    const { waiting, terminationMessages: lastWords, termination: verdict } = memory
    const found = podStatus({
      pod: wanted,
      running,
      waiting,
      terminationMessages: lastWords,
      probeState: (container) => ({ isStarted: probes.isStarted(container), isReady: probes.isReady(container) }),
      termination: verdict,
      hostIp,
      runtimeName: runtime.name,
      nowMs: clock.nowMs(),
    })
    const status =
      memory.resize === undefined ? found : withResize(found, wanted, memory.resize, rfc3339(clock.nowMs()))
    return this.#write(wanted, status, memory, context)
  }

  async #hearLastWords(
    wanted: Pod,
    running: RuntimePod | undefined,
    { terminationMessages: lastWords }: PodSyncState,
    { signal }: Context,
  ): Promise<void> {
    const ended = running?.containers.filter(({ state }) => state === 'exited') ?? []
    for (const container of ended)
      if (!lastWords.has(container.id))
        lastWords.set(container.id, await this.#deps.maker.lastWords(wanted, container, signal))
    for (const id of lastWords.keys()) if (!ended.some((container) => container.id === id)) lastWords.delete(id)
  }

  /** Writes the status when it has changed; returns the pod as it is now, undefined when it is gone. */
  async #write(wanted: Pod, status: Pod['status'], memory: PodSyncState, context: Context): Promise<Pod | undefined> {
    const { client, clock, staticPods: statics } = this.#deps
    const { name } = wanted.metadata
    const isStatic = statics?.has(wanted.metadata.uid) ?? false
    const shown = isStatic ? await statics?.ensureMirror(wanted, context) : wanted
    // Without a mirror nobody hears of a static pod; it runs all the same.
    if (shown === undefined || isSame(status, shown.status)) return { ...wanted, status }
    const { lastReported: told } = memory
    const nowMs = clock.monotonicMs()
    if (told !== undefined && isSame(status, told.status) && nowMs < told.atMs + contradictMs) {
      memory.reportInMs = told.atMs + contradictMs - nowMs
      return { ...wanted, status }
    }
    const { uid } = shown.metadata
    // With the uid: the spec may have changed meanwhile, but the pod may not be another one.
    const patch = { metadata: { uid }, status: statusPatch(shown.status, status) }
    try {
      const now = await client.of(podKind).patch(name, namespaceOf(wanted), patch, 'strategic', context, 'status')
      memory.lastReported = { status, atMs: nowMs }
      if (isStatic) return { ...wanted, status }
      memory.lastWritten = now
      // What else has changed meanwhile is news all the same.
      const { generation, resourceVersion: version } = now.metadata
      if (generation === wanted.metadata.generation && !leadsOn(wanted, memory) && isSame(status, now.status))
        memory.lastReported = { status, atMs: nowMs, version }
      return now
    } catch (error) {
      if (isStatic) return { ...wanted, status }
      if (hasReason(error, 'NotFound')) return undefined
      // It is another pod by now, or the status is no good.
      const present = await client.of(podKind).find(name, namespaceOf(wanted), context)
      if (present?.metadata.uid !== uid) return undefined
      throw error
    }
  }
}

/** More follows from what is told: a deadline runs from the start of the pod, and a resize is over once it is shown. */
const leadsOn = ({ spec, status }: Pod, { resize }: PodSyncState): boolean =>
  resize?.isUnderWay === true || (spec.activeDeadlineSeconds !== undefined && status.startTime === undefined)

/** There is something to be heard, or to be forgotten. */
const mayHaveEnded = (running: RuntimePod | undefined, { terminationMessages: lastWords }: PodSyncState): boolean =>
  lastWords.size > 0 || (running?.containers.some(({ state }) => state === 'exited') ?? false)

/** Conditions keep their times while they keep their value, so times alone are no news; nor is where others stand. */
const isSame = (a: Pod['status'], b: Pod['status']): boolean =>
  a.phase === b.phase && haveSameConditions(a, b) && equalExcept(a, b, 'conditions', true)

function haveSameConditions(
  { conditions: some = [] }: Pod['status'],
  { conditions: others = [] }: Pod['status'],
): boolean {
  return (
    some.length === others.length &&
    some.every((one) => {
      const other = others.find(({ type }) => type === one.type)
      return other !== undefined && equalExcept(one, other, 'lastTransitionTime', true)
    })
  )
}
