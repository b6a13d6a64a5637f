// ServerMetrics: the metrics of the parts of an API server. Defined once per process, even if its API server restarts.
import type { Metrics } from '../../base/observability/metrics.ts'
import { AccessMetrics } from './access-metrics.ts'
import { AdmissionMetrics } from './admission-metrics.ts'
import { AggregationMetrics } from './aggregation-metrics.ts'
import { AllocatorMetrics } from './allocator-metrics.ts'
import { CacheMetrics } from './cache-metrics.ts'
import { RuleMetrics } from './rule-metrics.ts'
import { FilterMetrics } from './filter-metrics.ts'

export class ServerMetrics {
  readonly access: AccessMetrics
  readonly admission: AdmissionMetrics
  readonly aggregation: AggregationMetrics
  readonly allocators: AllocatorMetrics
  readonly caches: CacheMetrics
  readonly filters: FilterMetrics
  readonly rules: RuleMetrics

  constructor(metrics: Metrics) {
    this.access = new AccessMetrics(metrics)
    this.admission = new AdmissionMetrics(metrics)
    this.aggregation = new AggregationMetrics(metrics)
    this.allocators = new AllocatorMetrics(metrics)
    this.caches = new CacheMetrics(metrics)
    this.filters = new FilterMetrics(metrics)
    this.rules = new RuleMetrics(metrics)
  }
}
