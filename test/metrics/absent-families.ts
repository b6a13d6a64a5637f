// Upstream's families that Coxswain does not have, with the reason. docs/limits.md summarises them. A name that ends in
// `*` stands for all families that begin with it.

export type Reason =
  /** The thing that is measured does not exist here. */
  | 'no such thing'
  /** It exists and is not measured yet. */
  | 'not measured'

export const absentFamilies: Readonly<Record<string, Reason>> = {
  // Parts of upstream's implementation.
  'aggregator_discovery_*': 'no such thing', // peers of an API server are not asked
  apiserver_admission_step_admission_duration_seconds_summary: 'no such thing', // the histogram has the same values
  apiserver_kube_aggregator_x509_insecure_sha1_total: 'no such thing', // Node.js rejects SHA-1
  apiserver_kube_aggregator_x509_missing_san_total: 'no such thing', // Node.js rejects such certificates
  apiserver_webhooks_x509_insecure_sha1_total: 'no such thing',
  apiserver_webhooks_x509_missing_san_total: 'no such thing',
  apiserver_selfrequest_total: 'no such thing', // components of the process call directly
  'apiserver_storage_list_*': 'no such thing', // every list is served from the watch cache
  apiserver_storage_consistency_checks_total: 'no such thing',
  apiserver_request_timestamp_comparison_time: 'no such thing',
  'apiserver_validation_*': 'no such thing', // validation has one implementation
  apiserver_requested_deprecated_apis: 'no such thing', // v1.36 serves no deprecated API by default
  apiserver_envelope_encryption_dek_cache_fill_percent: 'no such thing',
  apiserver_storage_envelope_transformation_cache_misses_total: 'no such thing',
  'apiserver_flowcontrol_demand_*': 'no such thing', // seats are borrowed at each request
  apiserver_flowcontrol_seat_fair_frac: 'no such thing',
  apiserver_flowcontrol_target_seats: 'no such thing',
  apiserver_flowcontrol_current_r: 'no such thing', // virtual time of upstream's queues
  apiserver_flowcontrol_dispatch_r: 'no such thing',
  apiserver_flowcontrol_latest_s: 'no such thing',
  apiserver_flowcontrol_next_discounted_s_bounds: 'no such thing',
  apiserver_flowcontrol_next_s_bounds: 'no such thing',
  'authentication_token_cache_*': 'no such thing',
  cardinality_enforcement_unexpected_categorizations_total: 'no such thing',
  disabled_metrics_total: 'no such thing', // metrics cannot be disabled
  hidden_metrics_total: 'no such thing',
  registered_metrics_total: 'no such thing',
  kubernetes_feature_enabled: 'no such thing', // there are no feature gates
  'grpc_client_*': 'no such thing', // etcd is called with a client of our own
  'rest_client_exec_plugin_*': 'no such thing',
  'rest_client_transport_*': 'no such thing',
  rest_client_rate_limiter_duration_seconds: 'no such thing', // clients do not limit their own rate
  'informer_*': 'no such thing', // deliveries are synchronous
  node_collector_update_all_nodes_health_duration_seconds: 'no such thing', // each node is examined when it is due
  'device_taint_eviction_controller_*': 'no such thing', // dynamic resource allocation
  'scheduler_batch_*': 'no such thing',
  scheduler_inflight_events: 'no such thing', // events during an attempt are counted, not kept
  scheduler_get_node_hint_duration_seconds: 'no such thing',
  scheduler_store_schedule_results_duration_seconds: 'no such thing',
  // Only where auditing is configured; upstream has them always.
  apiserver_audit_event_total: 'no such thing',
  apiserver_audit_requests_rejected_total: 'no such thing',

  apiextensions_apiserver_validation_ratcheting_seconds: 'not measured',
  'apiextensions_openapi_*': 'not measured',
  'apiserver_cel_*': 'not measured',
  apiserver_tls_handshake_errors_total: 'not measured',

  kube_pod_resource_request: 'no such thing', // in /metrics/resources of the scheduler, as in upstream
}
