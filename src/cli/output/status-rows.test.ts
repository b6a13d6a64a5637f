import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { nodesText, podNetworkText, podsText, processText, statusRows, storeText, versionText } from './status-rows.ts'

const node = (name: string, conditions: Record<string, string>, unschedulable = false): Node =>
  ({
    metadata: { name },
    spec: { unschedulable },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  }) as unknown as Node
const ready = { Ready: 'True' }

const rows: [what: string, nodes: Node[], text: string][] = [
  ['none', [], '0 of 0 ready'],
  ['all well', [node('a', ready), node('b', ready)], '2 of 2 ready; no pressure'],
  ['one lost', [node('a', ready), node('b', { Ready: 'Unknown' })], '1 of 2 ready; not ready: b; no pressure'],
  [
    'many lost',
    ['a', 'b', 'c', 'd', 'e'].map((name) => node(name, {})),
    '0 of 5 ready; not ready: a, b, c and 2 more; no pressure',
  ],
  [
    'pressure',
    [node('a', { ...ready, MemoryPressure: 'True', DiskPressure: 'False' })],
    '1 of 1 ready; MemoryPressure: a',
  ],
  ['cordoned', [node('a', ready, true)], '1 of 1 ready; cordoned: a; no pressure'],
]
for (const [what, nodes, text] of rows) test(`nodes in status: ${what}`, () => equal(nodesText(nodes), text))

test('pods are counted by phase', () => {
  const pods = ['Running', 'Running', 'Failed'].map((phase) => ({ status: { phase } }) as Pod)
  equal(podsText(pods), '2 Running, 1 Failed')
  equal(podsText([]), 'none')
})

const metrics = `etcd_request_duration_seconds_sum{operation="create",group="",resource="pods"} 0.02
etcd_request_duration_seconds_count{operation="create",group="",resource="pods"} 4
etcd_request_duration_seconds_sum{operation="list",group="",resource="pods"} 0.001
etcd_request_duration_seconds_count{operation="list",group="",resource="pods"} 2
process_resident_memory_bytes 104857600
nodejs_eventloop_lag_p99_seconds 0.0123
process_open_fds 40
nodejs_version_info{version="v26.10.0",major="26"} 1
`
test('versions, the store and the process come from the metrics that the server has', () => {
  equal(storeText(metrics), '2 reads (0.5 ms on average), 4 writes (5.0 ms on average)')
  equal(storeText(''), '')
  equal(processText(metrics), '100 MB of memory, event loop delay 12 ms (99th percentile), 40 open files')
  equal(processText(''), '')
  match(versionText({ gitVersion: 'v1.36.4' }, metrics), /^Coxswain \S+, Kubernetes v1\.36\.4, Node\.js v26\.10\.0$/)
  match(versionText({}, ''), /Kubernetes unknown$/)
})

test('the pod network in status: how nodes reach each other, if there are several', () => {
  const withPaths = (name: string, text?: string) =>
    ({ metadata: { name, ...(text && { annotations: { 'coxswain.dev/pod-paths': text } }) } }) as unknown as Node
  equal(podNetworkText([withPaths('a', 'no other nodes'), withPaths('simulated')]), '')
  equal(
    podNetworkText([withPaths('a', 'routes'), withPaths('b', 'routes'), withPaths('c', 'VXLAN')]),
    'routes (2 nodes), VXLAN (1 node)',
  )
})

test('a server that does not answer is the only row', async () => {
  const kubeconfig = `
current-context: x
contexts: [{ name: x, context: { cluster: x, user: x } }]
clusters: [{ name: x, cluster: { server: 'https://127.0.0.1:1' } }]
users: [{ name: x, user: {} }]`
  const found = await statusRows(kubeconfig, new AbortController().signal)
  deepEqual(
    found.map(([label]) => label),
    ['api'],
  )
  match(found[0]?.[1] ?? '', /^https:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/)
  await rejects(statusRows(kubeconfig, AbortSignal.abort()), { name: 'AbortError' })
})
