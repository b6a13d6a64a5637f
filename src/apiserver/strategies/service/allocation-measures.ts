// AllocationMeasures: what the allocators of Services measure with. A choice that another writer commits first is counted like
// any other allocation, because the write chooses again.
import type { Clock } from '../../../base/time/clock.ts'
import type { AllocatorMetrics } from '../../metrics/allocator-metrics.ts'

export interface AllocationMeasures {
  readonly clock: Clock
  readonly metrics: AllocatorMetrics
}
