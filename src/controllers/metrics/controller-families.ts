// ControllerFamilies: the metrics of single controllers, under upstream's names.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'
import { AutoscalerMetrics } from './autoscaler-metrics.ts'
import { EndpointSliceMetrics } from './endpoint-slice-metrics.ts'
import { JobMetrics } from './job-metrics.ts'

export interface ControllerFamilies {
  readonly autoscaler: AutoscalerMetrics
  /** From the scheduled time to the creation of the Job. */
  readonly cronJobSkewSeconds: Histogram
  readonly endpointSlices: EndpointSliceMetrics
  readonly ephemeralClaims: Counter
  readonly ephemeralClaimFailures: Counter
  /** From the expiry of a Job to its deletion. */
  readonly expiredJobSeconds: Histogram
  readonly job: JobMetrics
  /** Nodes whose pods are evicted. */
  readonly nodeEvictions: Counter
  readonly rootCertificateSyncs: Counter
  readonly rootCertificateSeconds: Histogram
  readonly taintEvictions: Counter
  /** From the end of a pod's toleration to its deletion. */
  readonly taintEvictionSeconds: Histogram
}

const doubled = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first * 2 ** index)

const evictionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]

export const controllerFamilies = (metrics: Metrics): ControllerFamilies => ({
  autoscaler: new AutoscalerMetrics(metrics),
  cronJobSkewSeconds: metrics.histogram(
    'cronjob_controller_job_creation_skew_duration_seconds',
    '[STABLE] Time between when a cronjob is scheduled to be run, and when the corresponding job is created',
    doubled(1, 10),
  ),
  endpointSlices: new EndpointSliceMetrics(metrics),
  ephemeralClaims: metrics.counter(
    'ephemeral_volume_controller_create_total',
    '[ALPHA] Number of PersistentVolumeClaim creation requests',
  ),
  ephemeralClaimFailures: metrics.counter(
    'ephemeral_volume_controller_create_failures_total',
    '[ALPHA] Number of PersistentVolumeClaim creation requests',
  ),
  expiredJobSeconds: metrics.histogram(
    'ttl_after_finished_controller_job_deletion_duration_seconds',
    '[ALPHA] The time it took to delete the job since it became eligible for deletion',
    doubled(0.1, 14),
  ),
  job: new JobMetrics(metrics),
  nodeEvictions: metrics.counter(
    'node_collector_evictions_total',
    '[STABLE] Number of Node evictions that happened since current instance of NodeController started.',
    ['zone'],
  ),
  rootCertificateSyncs: metrics.counter(
    'root_ca_cert_publisher_sync_total',
    '[ALPHA] Number of namespace syncs happened in root ca cert publisher.',
    ['code'],
  ),
  rootCertificateSeconds: metrics.histogram(
    'root_ca_cert_publisher_sync_duration_seconds',
    '[ALPHA] Number of namespace syncs happened in root ca cert publisher.',
    doubled(0.001, 15),
    ['code'],
  ),
  taintEvictions: metrics.counter(
    'taint_eviction_controller_pod_deletions_total',
    '[ALPHA] Total number of Pods deleted by TaintEvictionController since its start.',
  ),
  taintEvictionSeconds: metrics.histogram(
    'taint_eviction_controller_pod_deletion_duration_seconds',
    '[ALPHA] Latency, in seconds, between the time when a taint effect has been activated for the Pod and its deletion via TaintEvictionController.',
    evictionBounds,
  ),
})
