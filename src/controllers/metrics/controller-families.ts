// ControllerFamilies: the metrics of single controllers, under upstream's names.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'
import { AutoscalerMetrics } from './autoscaler-metrics.ts'
import { EndpointSliceMetrics } from './endpoint-slice-metrics.ts'
import { JobMetrics } from './job-metrics.ts'
import { NodeMetrics } from './node-metrics.ts'

export interface ControllerFamilies {
  readonly autoscaler: AutoscalerMetrics
  /** From the scheduled time to the creation of the Job. */
  readonly cronJobSkewSeconds: Histogram
  readonly daemonSetStaleSyncs: Counter
  readonly endpointSlices: EndpointSliceMetrics
  readonly ephemeralClaims: Counter
  readonly ephemeralClaimFailures: Counter
  /** From the expiry of a Job to its deletion. */
  readonly expiredJobSeconds: Histogram
  /** Failed discoveries, and discovered kinds that could not be listed in time. */
  readonly garbageCollectorSyncErrors: Counter
  readonly job: JobMetrics
  readonly node: NodeMetrics
  /** The ages of deleted pods relative to that of the youngest pod. */
  readonly replicaSetDeletionAges: Histogram
  readonly replicaSetStaleSyncs: Counter
  /** Claims that got the default StorageClass after their creation, and failures of that. */
  readonly retroactiveClasses: Counter
  readonly retroactiveClassFailures: Counter
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
  daemonSetStaleSyncs: metrics.counter(
    'daemonset_controller_stale_sync_skips_total',
    '[ALPHA] Total number of DaemonSet syncs skipped due to a stale watch cache.',
    ['group', 'resource'],
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
  garbageCollectorSyncErrors: metrics.counter(
    'garbagecollector_controller_resources_sync_error_total',
    '[ALPHA] Number of garbage collector resources sync errors',
  ),
  job: new JobMetrics(metrics),
  node: new NodeMetrics(metrics),
  replicaSetDeletionAges: metrics.histogram(
    'replicaset_controller_sorting_deletion_age_ratio',
    "[ALPHA] The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). Should be <2. The intent of this metric is to measure the rough efficacy of the LogarithmicScaleDown feature gate's effect on the sorting (and deletion) of pods when a replicaset scales down. This only considers Ready pods when calculating and reporting.",
    doubled(0.25, 6),
  ),
  replicaSetStaleSyncs: metrics.counter(
    'replicaset_controller_stale_sync_skips_total',
    '[ALPHA] Total number of ReplicaSet syncs skipped due to a stale watch cache.',
    ['group', 'resource'],
  ),
  retroactiveClasses: metrics.counter(
    'retroactive_storageclass_total',
    '[ALPHA] Total number of retroactive StorageClass assignments to persistent volume claim',
  ),
  retroactiveClassFailures: metrics.counter(
    'retroactive_storageclass_errors_total',
    '[ALPHA] Total number of failed retroactive StorageClass assignments to persistent volume claim',
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
