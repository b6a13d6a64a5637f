// PodStatusManager: computes the status of a pod and writes it to the API server.
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
import { TerminatedContainers } from './terminated-containers.ts'

export interface PodStatusManagerDeps {
  readonly client: Client
  readonly runtime: Pick<ContainerRuntime, 'name'>
  readonly provisioner: Pick<PodProvisioner, 'terminationMessage'>
  readonly probes: ProbeManager
  /** Undefined when the node has no static pods. */
  readonly staticPods: StaticPods | undefined
  readonly clock: Clock
  readonly hostIp: string
}

/**
 * Delay before a status is overwritten that another client has changed, so that two clients do not overwrite each other
 * in a tight loop.
 */
const overwriteDelayMs = 10_000

export class PodStatusManager {
  readonly #deps: PodStatusManagerDeps
  readonly terminatedContainers = new TerminatedContainers()

  constructor(deps: PodStatusManagerDeps) {
    this.#deps = deps
  }

  /** Computes the status of a pod and writes it; returns the current pod, undefined when it is gone. */
  async report(
    wanted: Pod,
    running: RuntimePod | undefined,
    state: PodSyncState,
    context: Context,
  ): Promise<Pod | undefined> {
    const { clock, hostIp, runtime, probes } = this.#deps
    state.reportInMs = undefined
    if (mayHaveEnded(running, state)) await this.#readTerminationMessages(wanted, running, state, context)
    const { waiting, terminationMessages, termination } = state
    const found = podStatus({
      pod: wanted,
      running,
      waiting,
      terminationMessages,
      probeState: (container) => ({ isStarted: probes.isStarted(container), isReady: probes.isReady(container) }),
      termination,
      hostIp,
      runtimeName: runtime.name,
      nowMs: clock.nowMs(),
    })
    const status = state.resize === undefined ? found : withResize(found, wanted, state.resize, rfc3339(clock.nowMs()))
    this.terminatedContainers.count(wanted, status, state)
    return this.#write(wanted, status, state, context)
  }

  async #readTerminationMessages(
    wanted: Pod,
    running: RuntimePod | undefined,
    { terminationMessages }: PodSyncState,
    { signal }: Context,
  ): Promise<void> {
    const ended = running?.containers.filter(({ state }) => state === 'exited') ?? []
    for (const container of ended)
      if (!terminationMessages.has(container.id))
        terminationMessages.set(
          container.id,
          await this.#deps.provisioner.terminationMessage(wanted, container, signal),
        )
    for (const id of terminationMessages.keys())
      if (!ended.some((container) => container.id === id)) terminationMessages.delete(id)
  }

  /** Writes the status if it has changed; returns the current pod, undefined when it is gone. */
  async #write(wanted: Pod, status: Pod['status'], state: PodSyncState, context: Context): Promise<Pod | undefined> {
    const { client, clock, staticPods } = this.#deps
    const { name } = wanted.metadata
    const isStatic = staticPods?.has(wanted.metadata.uid) ?? false
    const apiPod = isStatic ? await staticPods?.ensureMirror(wanted, context) : wanted
    // Without a mirror pod the status of a static pod is not visible; it runs nevertheless.
    if (apiPod === undefined || isEqualStatus(status, apiPod.status)) return { ...wanted, status }
    const { lastReported } = state
    const nowMs = clock.monotonicMs()
    if (
      lastReported !== undefined &&
      isEqualStatus(status, lastReported.status) &&
      nowMs < lastReported.atMs + overwriteDelayMs
    ) {
      state.reportInMs = lastReported.atMs + overwriteDelayMs - nowMs
      return { ...wanted, status }
    }
    const { uid } = apiPod.metadata
    // The uid makes the patch fail when another pod has the name by now.
    const patch = { metadata: { uid }, status: statusPatch(apiPod.status, status) }
    try {
      const now = await client.of(podKind).patch(name, namespaceOf(wanted), patch, 'strategic', context, 'status')
      state.lastReported = { status, atMs: nowMs }
      if (isStatic) return { ...wanted, status }
      state.lastWritten = now
      // The version counts as our own update only when nothing else has changed with it.
      const { generation, resourceVersion: version } = now.metadata
      if (
        generation === wanted.metadata.generation &&
        !requiresSync(wanted, state) &&
        isEqualStatus(status, now.status)
      )
        state.lastReported = { status, atMs: nowMs, version }
      return now
    } catch (error) {
      if (isStatic) return { ...wanted, status }
      if (hasReason(error, 'NotFound')) return undefined
      // Either another pod has the name now, or the status is invalid.
      const present = await client.of(podKind).find(name, namespaceOf(wanted), context)
      if (present?.metadata.uid !== uid) return undefined
      throw error
    }
  }
}

/**
 * Whether the written status requires another sync: a deadline starts with the start time, and a resize ends when it is
 * reported.
 */
const requiresSync = ({ spec, status }: Pod, { resize }: PodSyncState): boolean =>
  resize?.isInProgress === true || (spec.activeDeadlineSeconds !== undefined && status.startTime === undefined)

/** Whether termination messages must be read or removed. */
const mayHaveEnded = (running: RuntimePod | undefined, { terminationMessages }: PodSyncState): boolean =>
  terminationMessages.size > 0 || (running?.containers.some(({ state }) => state === 'exited') ?? false)

/**
 * Compares statuses without transition times, which only change together with a condition's status, and without the
 * order of conditions.
 */
const isEqualStatus = (a: Pod['status'], b: Pod['status']): boolean =>
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
