import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { startServer } from '../server.harness.ts'
import { newCacheCounts } from '../watch-cache/cache-counts.ts'
import { CacheMetrics } from './cache-metrics.ts'

const valuesOf = (metrics: Metrics, name: RegExp): string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => name.test(line) && !line.startsWith('#') && !line.endsWith(' 0'))

test('counts of a cache are added once, and a removed kind has no gauges', () => {
  const metrics = new Metrics()
  const caches = new CacheMetrics(metrics)
  const cache = { kind: configMap, revision: 7, capacity: 10, size: 3, estimatedBytes: 900, counts: newCacheCounts() }
  cache.counts.received = 2
  caches.collect([cache])
  cache.counts.received = 5
  caches.collect([cache])
  deepEqual(valuesOf(metrics, /received|resource_objects|size_estimate/), [
    'apiserver_resource_objects{group="",resource="configmaps"} 3',
    'apiserver_resource_size_estimate_bytes{group="",resource="configmaps"} 900',
    'apiserver_storage_events_received_total{group="",resource="configmaps"} 5',
    'apiserver_watch_cache_events_received_total{group="",resource="configmaps"} 5',
  ])
  caches.collect([])
  deepEqual(valuesOf(metrics, /resource_objects|capacity|resource_version|size_estimate/), [])
})

test('server-side apply is counted with a verb of its own', async () => {
  await using server = await startServer()
  const path = '/api/v1/namespaces/default/configmaps/a'
  const patch = async (type: string, query = '') => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    return (await server.call('PATCH', `${path}${query}`, body, { 'content-type': type })).status
  }
  equal(await patch('application/apply-patch+yaml', '?fieldManager=test'), 201)
  equal(await patch('application/merge-patch+json'), 200)
  const { body: text } = await server.call('GET', '/metrics')
  const rest = 'group="",version="v1",resource="configmaps",subresource="",scope="resource",component="apiserver"'
  for (const [verb, code] of Object.entries({ APPLY: 201, PATCH: 200 }))
    match(text, new RegExp(`\\napiserver_request_total\\{verb="${verb}",${rest},dry_run="",code="${code}"\\} 1\\n`))
})

test('a server measures requests, admission, lists and watch events', async () => {
  await using server = await startServer()
  const path = '/api/v1/namespaces/default/configmaps'
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  equal((await server.call('POST', path, { metadata: { name: 'a' } }, { traceparent })).status, 201)
  equal((await server.call('POST', `${path}?dryRun=All`, { metadata: { name: 'b' } })).status, 201)
  await server.call('GET', path)
  await server.watch(`${path}?watch=1`, 1)
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  await server.watch(`${path}?watch=1&${initial}`, 2)
  await server.call('GET', `${path}?resourceVersion=0`)
  const { body: text } = await server.call('GET', '/metrics')
  const labels = 'group="",version="v1",resource="configmaps",subresource=""'
  const post = `verb="POST",${labels},scope="resource",component="apiserver"`
  for (const line of [
    `apiserver_request_total{${post},dry_run="",code="201"} 1`,
    `apiserver_request_total{${post},dry_run="All",code="201"} 1`,
    `apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="create"} 2`,
    `apiserver_response_sizes_count{verb="LIST",${labels},scope="namespace",component="apiserver"} 2`,
    'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="false",type="admit"} ',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="validate"} ',
    'apiserver_cache_list_total{group="",index="",resource="configmaps"} 2',
    'apiserver_cache_list_fetched_objects_total{group="",index="",resource="configmaps"} 2',
    'apiserver_cache_list_returned_objects_total{group="",resource="configmaps"} 2',
    'apiserver_watch_cache_events_dispatched_total{group="",resource="configmaps"} 2',
    'apiserver_init_events_total{group="",resource="configmaps"} 2',
    // The list at any revision is not consistent, and waits for none.
    'apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="configmaps",success="true"} 1',
    'apiserver_watch_cache_read_wait_seconds_bucket{group="",resource="configmaps",le="0.005"} 3',
    'apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 3',
    'apiserver_watch_events_sizes_bucket{group="",resource="configmaps",version="v1",le="1024"} 3',
    'apiserver_watch_list_duration_seconds_count{group="",resource="configmaps",scope="namespace",version="v1"} 1',
  ])
    equal(text.includes(`\n${line}`), true, line)
  const open = await server.call('GET', '/metrics', undefined, { accept: 'application/openmetrics-text' })
  match(
    open.body,
    /apiserver_request_duration_seconds_bucket\{verb="POST",.*resource="configmaps".*\} 1 # \{trace_id="a{32}"\} \d/,
  )
})

test('a rejection by an admission plugin is measured as one', async () => {
  await using server = await startServer()
  const { status } = await server.call('POST', '/api/v1/namespaces/gone/configmaps', { metadata: { name: 'a' } })
  equal(status, 404)
  match(
    (await server.call('GET', '/metrics')).body,
    /admission_controller_admission_duration_seconds_count\{name="NamespaceLifecycle",operation="CREATE",rejected="true",type="admit"\} 1/,
  )
})

test('fresh and stale lists and bookmarks of the store are counted', () => {
  const metrics = new Metrics()
  const caches = new CacheMetrics(metrics)
  const counts = { ...newCacheCounts(), consistentLists: 2, staleLists: 1, freshReads: 3, bookmarks: 4 }
  const state = { kind: configMap, revision: 1, capacity: 10, size: 1, estimatedBytes: 7, counts }
  caches.collect([state])
  const shows = (text: string) => metrics.text().includes(text)
  ok(shows('consistent_read_total{fallback="false",group="",resource="configmaps",success="true"} 2'))
  ok(shows('consistent_read_total{fallback="false",group="",resource="configmaps",success="false"} 1'))
  ok(shows('etcd_bookmark_total{group="",resource="configmaps"} 4'))
  ok(shows('apiserver_watch_cache_read_wait_seconds_count{group="",resource="configmaps"} 3'))
})

test('labels have values from closed sets only', async () => {
  await using server = await startServer()
  const path = '/api/v1/namespaces/default/configmaps'
  const queries: [query: string, label: string][] = [
    ['', ''],
    ['?dryRun=All', 'All'],
    ['?dryRun=All&dryRun=All', 'All'],
    ['?dryRun=', 'invalid'],
    ['?dryRun=all', 'invalid'],
    ['?dryRun=All&dryRun=other', 'invalid'],
    [`?dryRun=${'x'.repeat(60_000)}`, 'invalid'],
  ]
  const expected = new Map<string, number>()
  for (const [index, [query, label]] of queries.entries()) {
    await server.call('POST', `${path}${query}`, { metadata: { name: `m${index}` } })
    expected.set(label, (expected.get(label) ?? 0) + 1)
  }
  const proxied = '/api/v1/namespaces/default/pods/absent/proxy/'
  await server.call('OPTIONS', proxied)
  const { body: text } = await server.call('GET', '/metrics')
  const counted = new Map<string, number>()
  for (const [, label = '', count] of (text as string).matchAll(
    /^apiserver_request_total\{verb="POST",.*resource="configmaps".*dry_run="([^"]*)".*\} (\d+)$/gm,
  ))
    counted.set(label, (counted.get(label) ?? 0) + Number(count))
  deepEqual(Object.fromEntries(counted), Object.fromEntries(expected))
  match(text, /\napiserver_request_total\{verb="other",group="",version="v1",resource="pods",subresource="proxy"/)
})
