// ProbeManager: runs the probes of the containers on a node. A container without probes is started and ready as soon as
// it runs, and no state is kept for it.
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
  readonly tell: RecordPodEvent
  /** A result has changed: the pod must be synced. */
  readonly onVerdict: (podUid: string, cause: Cause) => void
}

/** A probed container. */
interface Followed {
  pod: Pod
  podIp: string
  readonly container: Container
  readonly seen: RuntimeContainer
  readonly workers: Map<ProbeKind, ProbeWorker>
}

const titles = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const

export class ProbeManager implements ContainerHealth {
  readonly #deps: ProbeManagerDeps
  /** By pod uid and container id. */
  readonly #pods = new Map<string, Map<string, Followed>>()
  readonly #closed = new AbortController()
  /** Created with the first result, because most simulated nodes have no probes. */
  #metrics: ProbeMetrics | undefined

  constructor(deps: ProbeManagerDeps) {
    this.#deps = deps
  }

  /** Stops all probes. */
  close(): void {
    this.#closed.abort()
    for (const uid of [...this.#pods.keys()]) this.forget(uid)
  }

  /** Probes the running containers of the pod and stops the probes of others. */
  follow(pod: Pod, running: RuntimePod | undefined, hostIp: string): void {
    const { uid } = pod.metadata
    const before = this.#pods.get(uid)
    if (before === undefined && !hasProbes(pod.spec)) return
    const alive = running?.containers.filter(({ state }) => state === 'running') ?? []
    for (const [id, followed] of before ?? [])
      if (!alive.some((container) => container.id === id)) this.#leave(uid, id, followed)
    if (this.#closed.signal.aborted) return
    const podIp = pod.spec.hostNetwork ? hostIp : (running?.ips[0] ?? '')
    for (const seen of alive) {
      const known = before?.get(seen.id)
      if (known !== undefined) {
        known.pod = pod
        known.podIp = podIp
        this.#ask(known)
        continue
      }
      const container = containersOf(pod).find(({ name }) => name === seen.name)
      if (container === undefined || !isProbed(container)) continue
      const followed: Followed = { pod, podIp, container, seen, workers: new Map() }
      const all = this.#pods.get(uid) ?? new Map<string, Followed>()
      this.#pods.set(uid, all.set(seen.id, followed))
      this.#ask(followed)
    }
  }

  metricsText(): string {
    return this.#metrics?.text() ?? ''
  }

  forget(podUid: string): void {
    this.#metrics?.forget(podUid)
    for (const [id, followed] of this.#pods.get(podUid) ?? []) this.#leave(podUid, id, followed)
  }

  isStarted(container: RuntimeContainer): boolean {
    const followed = this.#find(container)
    return followed?.container.startupProbe === undefined || this.#verdict(followed, 'startup') === 'success'
  }

  isReady(container: RuntimeContainer): boolean {
    const followed = this.#find(container)
    return followed?.container.readinessProbe === undefined || this.#verdict(followed, 'readiness') === 'success'
  }

  failedProbe(container: RuntimeContainer): 'liveness' | 'startup' | undefined {
    const followed = this.#find(container)
    if (followed === undefined) return undefined
    return (['liveness', 'startup'] as const).find((kind) => this.#verdict(followed, kind) === 'failure')
  }

  #find({ id }: RuntimeContainer): Followed | undefined {
    for (const all of this.#pods.values()) {
      const found = all.get(id)
      if (found !== undefined) return found
    }
    return undefined
  }

  #verdict({ workers }: Followed, kind: ProbeKind): ProbeResult {
    return workers.get(kind)?.verdict ?? 'open'
  }

  #leave(podUid: string, id: string, { workers }: Followed): void {
    for (const worker of workers.values()) worker.stop()
    const all = this.#pods.get(podUid)
    all?.delete(id)
    if (all?.size === 0) this.#pods.delete(podUid)
  }

  /**
   * Starts probes that are due. The startup probe delays the others; startup and liveness probes stop when the pod
   * terminates.
   */
  #ask(followed: Followed): void {
    const isEnding = isBeingDeleted(followed.pod)
    if (isEnding) for (const kind of ['startup', 'liveness'] as const) followed.workers.get(kind)?.stop()
    for (const kind of probeKinds) {
      if (followed.workers.has(kind) || followed.container[`${kind}Probe`] === undefined) continue
      if (isEnding && kind !== 'readiness') continue
      if (kind === 'startup' || this.isStarted(followed.seen)) this.#start(kind, followed)
    }
  }

  #start(kind: ProbeKind, followed: Followed): void {
    const { clock, random } = this.#deps
    const { container, seen } = followed
    const spec = container[`${kind}Probe`]
    if (spec === undefined) return
    const told = toldOf(followed)
    const isKnown = kind === 'readiness' ? told?.ready === true : kind === 'startup' && told?.started === true
    const worker = new ProbeWorker(
      {
        clock,
        spec,
        ask: (signal) => {
          const { podIp } = followed
          return runProbe(spec, { container, containerId: seen.id, podIp }, this.#deps, signal)
        },
        onAnswer: (answer, tookMs) => {
          const result = answer === 'success' ? 'successful' : 'failed'
          this.#metrics ??= new ProbeMetrics()
          this.#metrics.count({ pod: followed.pod, container: container.name, type: titles[kind] }, result, tookMs)
        },
        onProblem: (trouble) => this.#tell(kind, followed, trouble),
        onVerdict: (verdict) => this.#decided(kind, followed, verdict),
      },
      isKnown ? 'success' : 'open',
    )
    followed.workers.set(kind, worker)
    // The container had started before the kubelet restarted.
    if (kind === 'startup' && isKnown) return
    const dueMs = seen.startedMs + (spec.initialDelaySeconds ?? 0) * 1000 - clock.nowMs()
    // After a restart of the kubelet the probes of running containers are spread over their period.
    const isFound = told !== undefined && dueMs < 0
    worker.start(isFound ? random.fraction() * spec.periodSeconds * 1000 : Math.max(0, dueMs))
  }

  #decided(kind: ProbeKind, followed: Followed, verdict: ProbeResult): void {
    const { flow, nodeName, onVerdict } = this.#deps
    const { pod, container, workers } = followed
    const { uid } = pod.metadata
    // A startup probe ends with its first result; a failed liveness probe ends because the container is restarted.
    if (kind === 'startup' || (kind === 'liveness' && verdict === 'failure')) workers.get(kind)?.stop()
    const subject = subjectOf(pod)
    const what = `${kind} probe of container ${container.name}`
    const step = flow.record('call', `kubelet/${nodeName}`, 'Runtime', what, subject, 0, noCause)
    flow.finish(step, verdict === 'success' ? 'ok' : verdict)
    onVerdict(uid, causeOf(step))
  }

  #tell(kind: ProbeKind, { pod, container }: Followed, trouble: ProbeProblem): void {
    const title = titles[kind]
    const said = {
      failure: ['Unhealthy', `${title} probe failed: ${trouble.message}`],
      warning: ['ProbeWarning', `${title} probe warning: ${trouble.message}`],
      error: ['Unhealthy', `${title} probe errored and resulted in unknown state: ${trouble.message}`],
    } as const
    const [reason, message] = said[trouble.kind]
    this.#deps.tell(pod, { type: 'Warning', reason, message, container: container.name }, context(this.#closed.signal))
  }
}

const isProbed = (container: Container): boolean => probeKinds.some((kind) => container[`${kind}Probe`] !== undefined)

const hasProbes = cachedBySpec((spec) => containersOf({ spec }).some(isProbed))

/** The last reported status of this container, which provides the initial results after a restart of the kubelet. */
const toldOf = ({ pod: { status }, seen }: Followed) =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find(({ containerID = '' }) =>
    containerID.endsWith(`//${seen.id}`),
  )
