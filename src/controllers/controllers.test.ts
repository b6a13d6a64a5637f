// The list of controllers, and what holds for all of them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../base/observability/metrics.ts'
import { defaultRbacObjects } from '../apiserver/authorization/bootstrap-policy/default-rbac-objects.ts'
import { controllers } from './controllers.ts'
import { managerAccount } from './runtime/controller.ts'
import { controllerMetrics } from './runtime/start-controller.ts'

test('the controllers are in alphabetical order, and their names are unique', () => {
  const names = controllers.map(({ name }) => name)
  deepEqual(names, names.toSorted())
  equal(new Set(names).size, names.length)
})

test('every controller uses a ServiceAccount to which a bootstrap role is bound, or the identity of the manager', () => {
  const { clusterRoleBindings, roleBindings } = defaultRbacObjects
  const bound = [...clusterRoleBindings, ...roleBindings].flatMap(({ subjects = [] }) =>
    subjects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
  )
  deepEqual(
    controllers.filter(({ account }) => !bound.includes(account)).map(({ name, account }) => [name, account]),
    [['service-account-token', managerAccount]],
  )
})

test('controllers share an account only where upstream has one controller for them', () => {
  const accounts = Object.groupBy(controllers, ({ account }) => account)
  const shared = Object.values(accounts).filter((each = []) => each.length > 1)
  deepEqual(
    shared.map((each = []) => each.map(({ name }) => name)),
    [
      ['certificate-approving', 'certificate-cleaning', 'certificate-signing'],
      ['job', 'job-orphans'],
      ['node-ipam', 'node-lifecycle', 'taint-eviction'],
      ['pod-disruption-budget', 'stale-disruption'],
      ['pod-resource-claim', 'resource-claim'],
    ],
  )
})

test('the metrics of controllers have upstream names and types', () => {
  const metrics = new Metrics()
  controllerMetrics(metrics)
  const types = [...metrics.text().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  deepEqual(types.toSorted(), [
    'cronjob_controller_job_creation_skew_duration_seconds histogram',
    'daemonset_controller_stale_sync_skips_total counter',
    'endpoint_slice_controller_changes counter',
    'endpoint_slice_controller_desired_endpoint_slices gauge',
    'endpoint_slice_controller_endpoints_added_per_sync histogram',
    'endpoint_slice_controller_endpoints_desired gauge',
    'endpoint_slice_controller_endpoints_removed_per_sync histogram',
    'endpoint_slice_controller_endpointslices_changed_per_sync histogram',
    'endpoint_slice_controller_num_endpoint_slices gauge',
    'endpoint_slice_controller_syncs counter',
    'endpoint_slice_mirroring_controller_endpoints_sync_duration histogram',
    'ephemeral_volume_controller_create_failures_total counter',
    'ephemeral_volume_controller_create_total counter',
    'garbagecollector_controller_resources_sync_error_total counter',
    'horizontal_pod_autoscaler_controller_desired_replicas gauge',
    'horizontal_pod_autoscaler_controller_metric_computation_duration_seconds histogram',
    'horizontal_pod_autoscaler_controller_metric_computation_total counter',
    'horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers gauge',
    'horizontal_pod_autoscaler_controller_reconciliation_duration_seconds histogram',
    'horizontal_pod_autoscaler_controller_reconciliations_total counter',
    'job_controller_job_pods_creation_total counter',
    'job_controller_job_pods_finished_total counter',
    'job_controller_job_sync_duration_seconds histogram',
    'job_controller_job_syncs_total counter',
    'job_controller_jobs_finished_total counter',
    'node_collector_evictions_total counter',
    'node_collector_unhealthy_nodes_in_zone gauge',
    'node_collector_update_node_health_duration_seconds histogram',
    'node_collector_zone_health gauge',
    'node_collector_zone_size gauge',
    'replicaset_controller_sorting_deletion_age_ratio histogram',
    'replicaset_controller_stale_sync_skips_total counter',
    'retroactive_storageclass_errors_total counter',
    'retroactive_storageclass_total counter',
    'root_ca_cert_publisher_sync_duration_seconds histogram',
    'root_ca_cert_publisher_sync_total counter',
    'taint_eviction_controller_pod_deletion_duration_seconds histogram',
    'taint_eviction_controller_pod_deletions_total counter',
    'ttl_after_finished_controller_job_deletion_duration_seconds histogram',
    'workqueue_adds_total counter',
    'workqueue_depth gauge',
    'workqueue_longest_running_processor_seconds gauge',
    'workqueue_queue_duration_seconds histogram',
    'workqueue_retries_total counter',
    'workqueue_unfinished_work_seconds gauge',
    'workqueue_work_duration_seconds histogram',
  ])
})
