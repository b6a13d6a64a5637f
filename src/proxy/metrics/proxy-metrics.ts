// The proxy's metrics, with upstream's names.
import type { Metrics } from '../../base/observability/metrics.ts'

export type ProxyMetrics = ReturnType<typeof proxyMetrics>

const syncBuckets = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index)

const linear = (first: number, step: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + step * index)

const programmingBuckets = [...linear(0.25, 0.25, 2), ...linear(1, 1, 59), ...linear(60, 5, 12), ...linear(120, 30, 7)]

export const proxyMetrics = (metrics: Metrics) => ({
  syncSeconds: metrics.histogram(
    'kubeproxy_sync_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds',
    syncBuckets,
  ),
  fullSyncSeconds: metrics.histogram(
    'kubeproxy_sync_full_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds for full resyncs',
    syncBuckets,
  ),
  partialSyncSeconds: metrics.histogram(
    'kubeproxy_sync_partial_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds for partial resyncs',
    syncBuckets,
  ),
  lastSyncSeconds: metrics.gauge(
    'kubeproxy_sync_proxy_rules_last_timestamp_seconds',
    'The last time proxy rules were successfully synced',
  ),
  lastQueuedSeconds: metrics.gauge(
    'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds',
    'The last time a sync of proxy rules was queued',
  ),
  programmingSeconds: metrics.histogram(
    'kubeproxy_network_programming_duration_seconds',
    'In Cluster Network Programming Latency in seconds',
    programmingBuckets,
  ),
  serviceChanges: metrics.counter(
    'kubeproxy_sync_proxy_rules_service_changes_total',
    'Cumulative proxy rules Service changes',
  ),
  endpointChanges: metrics.counter(
    'kubeproxy_sync_proxy_rules_endpoint_changes_total',
    'Cumulative proxy rules Endpoint changes',
  ),
  syncFailures: metrics.counter(
    'kubeproxy_sync_proxy_rules_nftables_sync_failures_total',
    'Cumulative proxy nftables sync failures',
  ),
  rejectedServices: metrics.counter(
    'coxswain_proxy_rejected_services_total',
    'Services that were left out because the kernel rejected their rules',
  ),
  healthzRequests: metrics.counter('kubeproxy_proxy_healthz_total', 'Cumulative proxy healthz HTTP status', ['code']),
  livezRequests: metrics.counter('kubeproxy_proxy_livez_total', 'Cumulative proxy livez HTTP status', ['code']),
  ignoredNodes: metrics.gauge(
    'coxswain_pod_routes_ignored_nodes',
    'Nodes with an address or a pod range that is ignored because it is not valid',
  ),
  ignoredHostPorts: metrics.gauge(
    'coxswain_host_ports_ignored',
    'Host ports of pods of this node that are not mapped, because they are not valid or this machine uses them',
  ),
})
