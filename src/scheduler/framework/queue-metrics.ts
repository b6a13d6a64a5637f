// QueueMetrics: counts the pods of each scheduling queue.
import type { Counter, Gauge } from '../../base/observability/metrics.ts'
import type { QueueName, QueueObserver, QueuedPod } from '../queue/scheduling-queue.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

export class QueueMetrics implements QueueObserver {
  readonly #incoming: Counter
  readonly #unschedulable: Gauge
  readonly #pending: Readonly<Record<QueueName, { add(amount: number): void }>>

  constructor({ incoming, pending, unschedulable }: Pick<SchedulerMetrics, 'incoming' | 'pending' | 'unschedulable'>) {
    this.#incoming = incoming
    this.#unschedulable = unschedulable
    const of = (queue: QueueName) => pending.with({ queue })
    this.#pending = {
      active: of('active'),
      backoff: of('backoff'),
      unschedulable: of('unschedulable'),
      gated: of('gated'),
    }
  }

  entered(queue: QueueName, waiting: QueuedPod, event: string): void {
    this.#pending[queue].add(1)
    this.#incoming.add({ event, queue })
    this.#count(waiting, 1)
  }

  left(queue: QueueName, waiting: QueuedPod): void {
    this.#pending[queue].add(-1)
    this.#count(waiting, -1)
  }

  #count({ rejectedBy, pod: { spec } }: QueuedPod, by: 1 | -1): void {
    for (const plugin of rejectedBy) this.#unschedulable.add({ plugin, profile: spec.schedulerName }, by)
  }
}
