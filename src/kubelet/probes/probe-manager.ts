// ProbeManager: runs the probes of the containers on a node. A container without probes is started and ready as soon as
// it runs, and no state is kept for it.
import type { ExpositionFormat } from '../../base/observability/exposition.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, noCause, type Cause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Random } from '../../base/random/random.ts'
import { cachedBySpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { containersOf, type ContainerHealth } from '../pod/pod-actions.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import { subjectOf } from '../events/record-call.ts'
import { runProbe, type ProbeCheckDeps } from './probe-check.ts'
import { ProbeMetrics } from './probe-metrics.ts'
import { probeKinds, ProbeWorker, type ProbeKind, type ProbeProblem, type ProbeResult } from './probe-worker.ts'

export interface ProbeManagerDeps extends ProbeCheckDeps {
  readonly random: Random
  readonly flow: FlowRecorder
  readonly nodeName: string
  readonly recordEvent: RecordPodEvent
  /** A result has changed: the pod must be synced. */
  readonly onResultChange: (podUid: string, cause: Cause) => void
}

/** A probed container. */
interface ProbedContainer {
  pod: Pod
  podIp: string
  readonly container: Container
  readonly runtimeContainer: RuntimeContainer
  readonly workers: Map<ProbeKind, ProbeWorker>
}

const probeTypes = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const

export class ProbeManager implements ContainerHealth {
  readonly #deps: ProbeManagerDeps
  /** By pod uid and container id. */
  readonly #pods = new Map<string, Map<string, ProbedContainer>>()
  readonly #closed = new AbortController()
  readonly #startedMs: number
  /** Created with the first result, because most simulated nodes have no probes. */
  #metrics: ProbeMetrics | undefined

  constructor(deps: ProbeManagerDeps) {
    this.#deps = deps
    this.#startedMs = deps.clock.nowMs()
  }

  /** Stops all probes. */
  close(): void {
    this.#closed.abort()
    for (const uid of [...this.#pods.keys()]) this.removePod(uid)
  }

  /** Probes the running containers of the pod and stops the probes of others. */
  updatePod(pod: Pod, running: RuntimePod | undefined, hostIp: string): void {
    const { uid } = pod.metadata
    const before = this.#pods.get(uid)
    if (before === undefined && !hasProbes(pod.spec)) return
    const alive = running?.containers.filter(({ state }) => state === 'running') ?? []
    for (const [id, probed] of before ?? [])
      if (!alive.some((container) => container.id === id)) this.#stopProbes(uid, id, probed)
    if (this.#closed.signal.aborted) return
    const podIp = pod.spec.hostNetwork ? hostIp : (running?.ips[0] ?? '')
    for (const runtimeContainer of alive) {
      const known = before?.get(runtimeContainer.id)
      if (known !== undefined) {
        known.pod = pod
        known.podIp = podIp
        this.#startDueProbes(known)
        continue
      }
      const container = containersOf(pod).find(({ name }) => name === runtimeContainer.name)
      if (container === undefined || !isProbed(container)) continue
      const probed: ProbedContainer = { pod, podIp, container, runtimeContainer, workers: new Map() }
      const all = this.#pods.get(uid) ?? new Map<string, ProbedContainer>()
      this.#pods.set(uid, all.set(runtimeContainer.id, probed))
      this.#startDueProbes(probed)
    }
  }

  metricsText(format: ExpositionFormat): string {
    return this.#metrics?.text(format) ?? format.write([])
  }

  removePod(podUid: string): void {
    this.#metrics?.forget(podUid)
    for (const [id, probed] of this.#pods.get(podUid) ?? []) this.#stopProbes(podUid, id, probed)
  }

  isStarted(container: RuntimeContainer): boolean {
    const probed = this.#find(container)
    return probed?.container.startupProbe === undefined || this.#result(probed, 'startup') === 'success'
  }

  isReady(container: RuntimeContainer): boolean {
    const probed = this.#find(container)
    return probed?.container.readinessProbe === undefined || this.#result(probed, 'readiness') === 'success'
  }

  failedProbe(container: RuntimeContainer): 'liveness' | 'startup' | undefined {
    const probed = this.#find(container)
    if (probed === undefined) return undefined
    return (['liveness', 'startup'] as const).find((kind) => this.#result(probed, kind) === 'failure')
  }

  #find({ id }: RuntimeContainer): ProbedContainer | undefined {
    for (const all of this.#pods.values()) {
      const found = all.get(id)
      if (found !== undefined) return found
    }
    return undefined
  }

  #result({ workers }: ProbedContainer, kind: ProbeKind): ProbeResult {
    return workers.get(kind)?.result ?? 'open'
  }

  #stopProbes(podUid: string, id: string, { workers }: ProbedContainer): void {
    for (const worker of workers.values()) worker.stop()
    const all = this.#pods.get(podUid)
    all?.delete(id)
    if (all?.size === 0) this.#pods.delete(podUid)
  }

  /**
   * Starts probes that are due. The startup probe delays the others; startup and liveness probes stop when the pod
   * terminates.
   */
  #startDueProbes(probed: ProbedContainer): void {
    const isEnding = isBeingDeleted(probed.pod)
    if (isEnding) for (const kind of ['startup', 'liveness'] as const) probed.workers.get(kind)?.stop()
    for (const kind of probeKinds) {
      if (probed.workers.has(kind) || probed.container[`${kind}Probe`] === undefined) continue
      if (isEnding && kind !== 'readiness') continue
      if (kind === 'startup' || this.isStarted(probed.runtimeContainer)) this.#start(kind, probed)
    }
  }

  #start(kind: ProbeKind, probed: ProbedContainer): void {
    const { clock, random } = this.#deps
    const { container, runtimeContainer } = probed
    const spec = container[`${kind}Probe`]
    if (spec === undefined) return
    const reported = reportedStatus(probed)
    const isKnown = kind === 'readiness' ? reported?.ready === true : kind === 'startup' && reported?.started === true
    const worker = new ProbeWorker(
      {
        clock,
        spec,
        check: (signal) => {
          const { podIp } = probed
          return runProbe(spec, { container, containerId: runtimeContainer.id, podIp }, this.#deps, signal)
        },
        onResult: (answer, tookMs) => {
          const result = answer === 'success' ? 'successful' : 'failed'
          this.#metrics ??= new ProbeMetrics()
          this.#metrics.count({ pod: probed.pod, container: container.name, type: probeTypes[kind] }, result, tookMs)
        },
        onProblem: (trouble) => this.#recordProblem(kind, probed, trouble),
        onResultChange: (result) => this.#resultChanged(kind, probed, result),
      },
      isKnown ? 'success' : 'open',
    )
    probed.workers.set(kind, worker)
    // The container had started before the kubelet restarted.
    if (kind === 'startup' && isKnown) return
    const dueMs = runtimeContainer.startedMs + (spec.initialDelaySeconds ?? 0) * 1000 - clock.nowMs()
    // After a restart of the kubelet the probes of running containers are spread over their period. Those that waited for
    // the startup probe begin immediately.
    const wasRunning = reported?.started === true && runtimeContainer.startedMs < this.#startedMs && dueMs < 0
    worker.start(wasRunning ? random.fraction() * spec.periodSeconds * 1000 : Math.max(0, dueMs))
  }

  #resultChanged(kind: ProbeKind, probed: ProbedContainer, result: ProbeResult): void {
    const { flow, nodeName, onResultChange } = this.#deps
    const { pod, container, workers } = probed
    const { uid } = pod.metadata
    // A startup probe ends with its first result; a failed liveness probe ends because the container is restarted.
    if (kind === 'startup' || (kind === 'liveness' && result === 'failure')) workers.get(kind)?.stop()
    const subject = subjectOf(pod)
    const what = `${kind} probe of container ${container.name}`
    const step = flow.record('call', `kubelet/${nodeName}`, 'Runtime', what, subject, 0, noCause)
    flow.finish(step, result === 'success' ? 'ok' : result)
    onResultChange(uid, causeOf(step))
  }

  #recordProblem(kind: ProbeKind, { pod, container }: ProbedContainer, trouble: ProbeProblem): void {
    const title = probeTypes[kind]
    const events = {
      failure: ['Unhealthy', `${title} probe failed: ${trouble.message}`],
      warning: ['ProbeWarning', `${title} probe warning: ${trouble.message}`],
      error: ['Unhealthy', `${title} probe errored and resulted in unknown state: ${trouble.message}`],
    } as const
    const [reason, message] = events[trouble.kind]
    this.#deps.recordEvent(
      pod,
      { type: 'Warning', reason, message, container: container.name },
      context(this.#closed.signal),
    )
  }
}

const isProbed = (container: Container): boolean => probeKinds.some((kind) => container[`${kind}Probe`] !== undefined)

const hasProbes = cachedBySpec((spec) => containersOf({ spec }).some(isProbed))

/** The last reported status of this container, which provides the initial results after a restart of the kubelet. */
const reportedStatus = ({ pod: { status }, runtimeContainer }: ProbedContainer) =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find(({ containerID = '' }) =>
    containerID.endsWith(`//${runtimeContainer.id}`),
  )
