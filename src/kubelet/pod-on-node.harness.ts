// A pod on a simulated node, its events and its first container.
import { context } from '../base/observability/context.ts'
import { event } from '../api/core/v1/event.ts'
import { pod, type Pod, type PodInput } from '../api/core/v1/pod/pod.ts'
import { startCluster, type TestCluster as Cluster } from '../cluster/testing/start-cluster.ts'
import type { SimulatedProgram } from '../machine/runtime/simulated-runtime.ts'

export const ctx = context(new AbortController().signal)

export async function run(
  spec: Partial<PodInput['spec'] & object>,
  images: Record<string, SimulatedProgram | 'missing'>,
) {
  const cluster = await startCluster({ simulation: { images } })
  const pods = cluster.client.of(pod)
  await pods.create(
    { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'tested' }], ...spec } },
    'default',
    ctx,
  )
  return { cluster, read: () => pods.get('p', 'default', ctx), pods, [Symbol.asyncDispose]: () => cluster.stop() }
}

export const eventsOf = async ({ client }: Cluster, name = 'p') =>
  (await client.of(event).list({ fieldSelector: `involvedObject.name=${name}` }, ctx)).items.map(
    ({ reason, message, count }) => `${reason}: ${message}${(count ?? 1) > 1 ? ` (x${count})` : ''}`,
  )
export const firstStatus = async ({ read }: { read: () => Promise<Pod> }) => {
  const { status } = await read()
  return status.containerStatuses?.[0]
}
