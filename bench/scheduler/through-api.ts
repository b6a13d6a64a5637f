// From the API server to the bound pod with its event: in one process over the direct transport, with the memory store.
import { context } from '../../src/base/observability/context.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { startRate, type Rate } from './rate.ts'
import { nodesOf, podOf, type Workload } from './workloads.ts'

const ctx = context(new AbortController().signal)

export async function throughApi(workload: Workload, count: number): Promise<Rate> {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  await cluster.kill('controllers')
  for (const { metadata, status } of nodesOf(workload)) {
    const { name, labels = {} } = metadata
    await client.of(node).create({ metadata: { name, labels }, status }, '', ctx)
    // The node controller does this when a node is ready.
    await client.of(node).patch(name, '', { spec: { taints: null } }, 'merge', ctx)
  }
  await clock.advance('10s')
  const pods = Array.from({ length: count }, (_, index) => podOf(workload, `p-${index}`, workload.measured(index)))
  const stop = startRate()
  for (const { metadata, spec } of pods) {
    const { name, labels = {} } = metadata
    await client.of(pod).create({ metadata: { name, labels }, spec }, 'default', ctx)
  }
  await clock.settle()
  const rate = stop(count)
  const { items } = await client.of(pod).list({ fieldSelector: 'spec.nodeName=' }, ctx)
  if (items.length > 0) throw new Error(`${items.length} pods of ${workload.name} have no node`)
  return rate
}
