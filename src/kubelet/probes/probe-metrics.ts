// ProbeMetrics: counts and durations of probes, by pod and container. The series of a pod are removed with it.
import type { ExpositionFormat } from '../../base/observability/exposition.ts'
import { Metrics, type Labels } from '../../base/observability/metrics.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'

const durationSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const results = ['successful', 'failed'] as const

export interface CountedProbe {
  readonly pod: Pod
  readonly container: string
  readonly type: 'Liveness' | 'Readiness' | 'Startup'
}

export class ProbeMetrics {
  readonly #metrics = new Metrics()
  readonly #total = this.#metrics.counter(
    'prober_probe_total',
    '[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.',
    ['container', 'namespace', 'pod', 'pod_uid', 'probe_type', 'result'],
  )
  readonly #durations = this.#metrics.histogram(
    'prober_probe_duration_seconds',
    '[ALPHA] Duration in seconds for a probe response.',
    durationSeconds,
    ['container', 'namespace', 'pod', 'probe_type'],
  )
  /** Labels in use, by pod uid, container and probe type. */
  readonly #labels = new Map<string, Map<string, Labels>>()

  /** As upstream, only durations of successful probes are recorded. */
  count(probe: CountedProbe, result: (typeof results)[number], tookMs: number): void {
    const labels = this.#labelsOf(probe)
    this.#total.add({ ...labels, result })
    if (result === 'successful') this.#durations.observe(labels, tookMs / 1000)
  }

  forget(podUid: string): void {
    for (const labels of this.#labels.get(podUid)?.values() ?? []) {
      for (const result of results) this.#total.remove({ ...labels, result })
      this.#durations.remove(labels)
    }
    this.#labels.delete(podUid)
  }

  text(format?: ExpositionFormat): string {
    return this.#metrics.text(format)
  }

  #labelsOf({ pod, container, type }: CountedProbe): Labels {
    const { name, uid } = pod.metadata
    const ofPod = this.#labels.get(uid) ?? new Map<string, Labels>()
    this.#labels.set(uid, ofPod)
    const key = `${container} ${type}`
    const labels = ofPod.get(key) ?? {
      container,
      namespace: namespaceOf(pod),
      pod: name,
      pod_uid: uid,
      probe_type: type,
    }
    ofPod.set(key, labels)
    return labels
  }
}
