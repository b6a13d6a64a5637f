import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import { deployments, nodes, nowMs, podColumns, podRow, pods, resources } from '../state/state.harness.ts'
import type { Data } from '../state/state.ts'
import { tableView } from '../state/views.ts'
import { FakeApi } from './fake-api.harness.ts'
import { subscribe } from './subscribe.ts'
import { metricsResource, UsageColumns, usageIn } from './usage.ts'

const podMetrics = { ...pods, group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics' }
const nodeMetrics = { ...nodes, group: 'metrics.k8s.io', version: 'v1beta1', kind: 'NodeMetrics' }
const measured = [...resources, podMetrics, nodeMetrics]

test('pods and nodes have usage where there is a metrics API', () => {
  equal(metricsResource(pods, measured), podMetrics)
  equal(metricsResource(nodes, measured), nodeMetrics)
  equal(metricsResource(deployments, measured), undefined)
  equal(metricsResource(pods, resources), undefined)
})

test('the usage of a pod is that of its containers, in the units of kubectl top', () => {
  const containers = [{ usage: { cpu: '1500000n', memory: '2048Ki' } }, { usage: { cpu: '10m', memory: '3Mi' } }, {}]
  const items = [
    { metadata: { namespace: 'shop', name: 'web-0' }, containers },
    { metadata: { name: 'node-0' }, usage: { cpu: '2', memory: '1Gi' } },
  ]
  deepEqual(
    [...usageIn({ items })],
    [
      ['shop/web-0', ['12m', '5Mi']],
      ['/node-0', ['2000m', '1024Mi']],
    ],
  )
  deepEqual([...usageIn({})], [])
})

test('columns stand before the age; usage and rows arrive in any order', () => {
  const columns = new UsageColumns()
  const first = columns.rows({ kind: 'replace', columns: podColumns, rows: [podRow('a'), podRow('b')] })
  equal(
    first.kind === 'replace' && first.columns.map(({ name }) => name).join(),
    'Name,Ready,Status,Restarts,CPU,MEM,Age,IP,Node',
  )
  const cells = (change: typeof first) =>
    (change.kind === 'replace' ? change.rows : change.set).map((row) => `${row.name} ${row.cells.slice(4, 6).join()}`)
  deepEqual(cells(first), ['a ,', 'b ,'])
  deepEqual(cells(columns.used(new Map([['default/a', ['1m', '2Mi']]]))), ['a 1m,2Mi', 'b ,'])
  deepEqual(cells(columns.rows({ kind: 'change', set: [podRow('a')], removed: ['default/b'] })), ['a 1m,2Mi'])
  deepEqual(cells(columns.used(undefined)), ['a n/a,n/a'], 'the metrics API does not answer')
})

test('without an age they are the last columns', () => {
  const change = new UsageColumns().rows({ kind: 'replace', columns: [{ name: 'Name', priority: 0 }], rows: [] })
  equal(change.kind === 'replace' && change.columns.map(({ name }) => name).join(), 'Name,CPU,MEM')
})

test('the list of pods reads the usage of its namespace and selector at intervals', async () => {
  let hasMetrics = true
  const table = {
    kind: 'Table',
    metadata: { resourceVersion: '5' },
    columnDefinitions: [{ name: 'Name' }, { name: 'Age' }],
    rows: [{ cells: ['web-0', '0s'], object: { metadata: { name: 'web-0', namespace: 'shop' } } }],
  }
  const api = Object.assign(new FakeApi(), {
    document(target: string): unknown {
      if (!target.startsWith('/apis/metrics.k8s.io/')) return table
      if (!hasMetrics) throw new StatusError(503, 'ServiceUnavailable', 'no metrics')
      return {
        items: [
          { metadata: { namespace: 'shop', name: 'web-0' }, containers: [{ usage: { cpu: '5m', memory: '1Mi' } }] },
        ],
      }
    },
  })
  const clock = new VirtualClock(nowMs)
  const stop = new AbortController()
  const reports: Data[] = []
  const selector = { text: 'deployment/web', labelSelector: 'app=web' }
  const view = tableView(1, { kind: 'list', resource: pods, namespace: 'shop', selector })
  const ended = subscribe(
    view,
    measured,
    { api, clock, random: seededRandom(1) },
    (data) => void reports.push(data),
    stop.signal,
  )
  await clock.advance('1s')
  const cells = () => {
    const last = reports.at(-1)
    if (last?.kind !== 'rows') return []
    return (last.change.kind === 'replace' ? last.change.rows : last.change.set).map((row) => row.cells.join())
  }
  deepEqual(cells(), ['web-0,5m,1Mi,0s'])
  const metricsReads = () => api.reads.filter((target) => target.startsWith('/apis/metrics'))
  deepEqual(metricsReads(), ['/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dweb'])
  hasMetrics = false
  await clock.advance('15s')
  deepEqual([cells(), metricsReads().length], [['web-0,n/a,n/a,0s'], 2])
  stop.abort()
  await ended
  equal(clock.pendingTimers, 0)
})
