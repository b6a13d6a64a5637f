import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { event } from '../api/core/v1/event.ts'
import { podCondition } from '../api/core/v1/pod/pod-readiness.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import type { RuntimePod } from '../machine/runtime/container-runtime.ts'
import type { SimulatedProcess } from '../machine/runtime/simulated-process.ts'
import { serveUntilTerminated } from '../machine/runtime/simulated-runtime.ts'
import { solo, soloNode } from './solo.harness.ts'

const { signal } = new AbortController()
const ctx = context(signal)

test('a lost sandbox is reported and replaced, and its pod is ready again as soon as it runs', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const images = {
    tested: async (process: SimulatedProcess) => {
      const code = await serveUntilTerminated(process)
      await process.clock.sleep(1_000, signal)
      return code
    },
  }
  const { runtime, start } = soloNode(cluster, {}, {}, { images })
  await using tasks = start()
  const pods = cluster.client.of(pod)
  const spec = { nodeName: solo.name, containers: [{ name: 'c', image: 'tested' }] }
  const { metadata } = await pods.create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  // The sandbox is stopped while its containers still run.
  const inspect = runtime.inspect.bind(runtime)
  const lost = (await inspect(metadata.uid, signal))?.sandboxId
  runtime.inspect = async (uid, stop): Promise<RuntimePod | undefined> => {
    const found = await inspect(uid, stop)
    return found?.sandboxId === lost && found !== undefined ? { ...found, isReady: false } : found
  }
  await pods.patch('p', 'default', { metadata: { labels: { look: 'again' } } }, 'merge', ctx)
  await cluster.clock.advance('4s')
  const now = await pods.get('p', 'default', ctx)
  deepEqual([now.status.containerStatuses?.[0]?.restartCount, podCondition(now, 'Ready')?.status], [1, 'True'])
  const events = (await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)).items
  const recorded = events.filter(({ reason }) => reason === 'SandboxChanged' || reason === 'Killing')
  deepEqual(recorded.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).toSorted(), [
    'Normal Killing: Stopping container c',
    'Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.',
  ])
  tasks.stop()
})
