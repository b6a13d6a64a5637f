// Why nodes do not fit a pod where several reasons come together: each is named, and the first command is one that helps.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../../api/core/v1/node/node.ts'
import { pod } from '../../../api/core/v1/pod/pod.ts'
import { context } from '../../../base/observability/context.ts'
import { startCluster } from '../../../cluster/testing/start-cluster.ts'
import { readerOf } from '../explainer/cluster-reader.ts'
import { why } from '../why.ts'

const ctx = context(new AbortController().signal)

const taints = [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }]
const ssd = { nodeSelector: { disk: 'ssd' } }
const large = { resources: { requests: { cpu: '64' } } }
const [first, second] = ['node-0', 'node-1'] as const
type Nodes = Readonly<Partial<Record<typeof first | typeof second, object>>>

const cases: readonly (readonly [
  situation: string,
  nodes: Nodes,
  spec: object,
  container: object,
  expected: RegExp,
  fix: RegExp,
])[] = [
  [
    'a taint, and a label that no node has',
    { [first]: { spec: { taints } }, [second]: { spec: { taints } } },
    ssd,
    {},
    /2 nodes \(node-0 and node-1\) do not have the label disk=ssd of its nodeSelector\. 2 nodes \(node-0 and node-1\) have the taint dedicated=gpu:NoSchedule, /,
    /^kubectl label node node-0 disk=ssd$/,
  ],
  [
    'a cordoned node, and a label that no node has',
    { [first]: { spec: { unschedulable: true } }, [second]: { spec: { unschedulable: true } } },
    ssd,
    {},
    /do not have the label disk=ssd of its nodeSelector\. 2 nodes \(node-0 and node-1\) are cordoned\.$/,
    /^kubectl label node node-0 disk=ssd$/,
  ],
  [
    'a label that no node has, where one node is open',
    { [first]: { spec: { taints } } },
    ssd,
    {},
    /\. 2 nodes \(node-1 and node-0\) do not have the label disk=ssd of its nodeSelector\.$/,
    /^kubectl label node node-1 disk=ssd$/,
  ],
  [
    'a label that only a node with a taint has',
    { [first]: { metadata: { labels: { disk: 'ssd' } }, spec: { taints } } },
    ssd,
    {},
    /Node node-1 does not have the label disk=ssd of its nodeSelector\. Node node-0 has the taint dedicated=gpu:NoSchedule, /,
    /^kubectl label node node-1 disk=ssd$/,
  ],
  [
    'a taint, and a request that no node can satisfy',
    { [first]: { spec: { taints } }, [second]: { spec: { taints } } },
    {},
    large,
    /which it does not tolerate; it needs the toleration \{.*\}\. It requests 64 CPUs; the largest node, node-0, has 8 of 8 CPUs free\.$/,
    /^kubectl patch pod\/asked /,
  ],
  [
    'a request that only a cordoned node could satisfy',
    { [first]: { spec: { unschedulable: true } }, [second]: { spec: { taints } } },
    {},
    {},
    /Node node-1 has the taint dedicated=gpu:NoSchedule, .*\. Node node-0 is cordoned\.$/,
    /^kubectl patch pod\/asked /,
  ],
]

for (const [situation, nodes, spec, container, expected, fix] of cases)
  test(situation, async () => {
    await using cluster = await startCluster({ nodes: 2 })
    const { client, clock } = cluster
    for (const [name, change] of Object.entries(nodes)) await client.of(node).patch(name, '', change, 'merge')
    await client
      .of(pod)
      .create({ metadata: { name: 'asked' }, spec: { ...spec, containers: [{ name: 'c', image: 'i', ...container }] } })
    await clock.advance('5s')
    const reader = readerOf(client, ctx, { nowMs: clock.nowMs() })
    const { waits, fixes } = await why(pod, await client.of(pod).get('asked'), reader, [])
    equal(waits.length, 1)
    match(waits[0] ?? '', expected)
    match(fixes[0] ?? '', fix)
    equal(fixes.length, 1)
  })
