// Upstream's families that Coxswain does not have, because what they measure does not exist here. A name that ends in
// `*` stands for all families that begin with it.

export const absentFamilies: readonly string[] = [
  // Parts of upstream's implementation.
  'aggregator_discovery_*', // peers of an API server are not asked
  'apiserver_admission_step_admission_duration_seconds_summary', // the histogram has the same values
  'apiserver_kube_aggregator_x509_insecure_sha1_total', // Node.js rejects SHA-1
  'apiserver_kube_aggregator_x509_missing_san_total', // Node.js rejects such certificates
  'apiserver_webhooks_x509_insecure_sha1_total',
  'apiserver_webhooks_x509_missing_san_total',
  'apiserver_selfrequest_total', // components of the process call directly
  'apiserver_storage_list_*', // every list is served from the watch cache
  'apiserver_storage_consistency_checks_total',
  'apiserver_request_timestamp_comparison_time',
  'apiserver_validation_*', // validation has one implementation
  'apiserver_envelope_encryption_dek_cache_fill_percent',
  'apiserver_storage_envelope_transformation_cache_misses_total',
  'apiserver_flowcontrol_demand_*', // seats are borrowed at each request
  'apiserver_flowcontrol_seat_fair_frac',
  'apiserver_flowcontrol_target_seats',
  'apiserver_flowcontrol_current_r', // virtual time of upstream's queues
  'apiserver_flowcontrol_dispatch_r',
  'apiserver_flowcontrol_latest_s',
  'apiserver_flowcontrol_next_discounted_s_bounds',
  'apiserver_flowcontrol_next_s_bounds',
  'authentication_token_cache_*',
  'cardinality_enforcement_unexpected_categorizations_total',
  'disabled_metrics_total', // metrics cannot be disabled
  'hidden_metrics_total',
  'registered_metrics_total',
  'kubernetes_feature_enabled', // there are no feature gates
  'grpc_client_*', // etcd is called with a client of our own
  'rest_client_exec_plugin_*',
  'rest_client_transport_*',
  'rest_client_rate_limiter_duration_seconds', // clients do not limit their own rate
  'informer_*', // deliveries are synchronous
  'node_collector_update_all_nodes_health_duration_seconds', // each node is examined when it is due
  'device_taint_eviction_controller_*', // dynamic resource allocation
  'scheduler_batch_*',
  'scheduler_inflight_events', // events during an attempt are counted, not kept
  'scheduler_get_node_hint_duration_seconds',
  'scheduler_store_schedule_results_duration_seconds',
  'apiextensions_apiserver_validation_ratcheting_seconds', // old and new values are compared while they are validated
  'apiextensions_openapi_*', // documents are built when they are read
  // Only where auditing is configured; upstream has them always.
  'apiserver_audit_event_total',
  'apiserver_audit_requests_rejected_total',

  'kube_pod_resource_request', // in /metrics/resources of the scheduler, as in upstream
]
