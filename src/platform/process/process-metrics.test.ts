import { deepEqual, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { nodeProcessStats } from '../node/process/process-stats.ts'
import { registerProcessMetrics } from './process-metrics.ts'
import type { GarbageCollectionKind, ProcessSample, ProcessStats } from './process-stats.ts'

const delay = { min: 0.001, max: 0.5, mean: 0.01, stddev: 0.002, p50: 0.003, p90: 0.02, p99: 0.4 }
const sample = (more: Partial<ProcessSample> = {}): ProcessSample => ({
  startTimeSeconds: 100,
  cpuUserSeconds: 2,
  cpuSystemSeconds: 1,
  residentBytes: 5,
  virtualBytes: 6,
  dataBytes: 7,
  virtualBytesMax: Infinity,
  receivedBytes: 20,
  transmittedBytes: 21,
  openFiles: 8,
  openFilesMax: 9,
  heapTotalBytes: 10,
  heapUsedBytes: 11,
  externalBytes: 12,
  heapSpaces: [{ name: 'old', totalBytes: 1, usedBytes: 2, availableBytes: 3 }],
  eventLoopDelay: delay,
  activeResources: new Map([
    ['TCPSocketWrap', 3],
    ['FSReqCallback', 1],
    ['Timeout', 4],
  ]),
  version: 'v26.10.0',
  ...more,
})

function fakeStats() {
  const state = { sample: sample(), collected: (_kind: GarbageCollectionKind, _seconds: number): void => {} }
  const stats: ProcessStats = {
    read: () => state.sample,
    onGarbageCollection: (listener) => (state.collected = listener),
    [Symbol.dispose]() {},
  }
  return { state, stats }
}

const samplesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('the families have the names and types of the Prometheus client libraries', () => {
  const metrics = new Metrics()
  const { state, stats } = fakeStats()
  registerProcessMetrics(metrics, stats)
  state.collected('minor', 0.005)
  const text = metrics.text()
  for (const line of [
    'process_cpu_user_seconds_total 2',
    'process_cpu_system_seconds_total 1',
    'process_cpu_seconds_total 3',
    'process_start_time_seconds 100',
    'process_resident_memory_bytes 5',
    'process_virtual_memory_bytes 6',
    'process_virtual_memory_max_bytes +Inf',
    'process_network_receive_bytes_total 20',
    'process_network_transmit_bytes_total 21',
    'process_heap_bytes 7',
    'process_open_fds 8',
    'process_max_fds 9',
    'nodejs_heap_size_total_bytes 10',
    'nodejs_heap_size_used_bytes 11',
    'nodejs_external_memory_bytes 12',
    'nodejs_heap_space_size_used_bytes{space="old"} 2',
    'nodejs_eventloop_lag_seconds 0.01',
    'nodejs_eventloop_lag_p99_seconds 0.4',
    'nodejs_active_resources_total 8',
    'nodejs_active_resources{type="Timeout"} 4',
    'nodejs_active_handles{type="TCPSocketWrap"} 3',
    'nodejs_active_handles_total 3',
    'nodejs_active_requests_total 1',
    'nodejs_version_info{version="v26.10.0",major="26",minor="10",patch="0"} 1',
    'nodejs_gc_duration_seconds_bucket{kind="minor",le="0.01"} 1',
  ])
    ok(samplesOf(text).includes(line), line)
  match(text, /^# TYPE process_cpu_seconds_total counter$/m)
  match(text, /^# TYPE nodejs_gc_duration_seconds histogram$/m)
})

test('counters grow with the process, and resources that have disappeared are 0', () => {
  const metrics = new Metrics()
  const { state, stats } = fakeStats()
  registerProcessMetrics(metrics, stats)
  metrics.text()
  state.sample = sample({ cpuUserSeconds: 10, activeResources: new Map(), openFiles: undefined })
  const lines = samplesOf(metrics.text())
  const wanted = [
    'process_cpu_user_seconds_total 10',
    'nodejs_active_handles{type="TCPSocketWrap"} 0',
    'nodejs_active_handles_total 0',
  ]
  deepEqual(
    wanted.filter((line) => !lines.includes(line)),
    [],
  )
})

test('Node.js and the system provide every value', () => {
  using stats = nodeProcessStats.start()
  const read = stats.read()
  for (const [name, value] of Object.entries(read))
    if (typeof value === 'number' && name !== 'virtualBytesMax')
      ok(Number.isFinite(value) && value >= 0, `${name} ${value}`)
  ok(read.residentBytes > 1 << 20 && read.heapUsedBytes > 1 << 20)
  ok(read.heapSpaces.some(({ name, usedBytes }) => name === 'old' && usedBytes > 0))
  ok(Object.values(read.eventLoopDelay).every((value) => Number.isFinite(value) && value >= 0))
  ok((read.virtualBytesMax ?? Infinity) > read.residentBytes)
  if (process.platform === 'linux') ok((read.openFiles ?? 0) > 0 && (read.virtualBytes ?? 0) > read.residentBytes)
})
