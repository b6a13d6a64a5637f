import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../api/core/v1/pod/pod.ts'
import { context } from '../base/observability/context.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import type { NodeHost } from './node/node-host.ts'
import { solo, soloNode } from './solo.harness.ts'

const ctx = context(new AbortController().signal)

test('containers start when the network policies of their pod are enforced; the host network needs none', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const enforced = Promise.withResolvers<void>()
  const asked: unknown[] = []
  const protectPod: NodeHost['protectPod'] = ({ metadata }, addresses) => {
    asked.push([metadata.name, addresses.length])
    return enforced.promise
  }
  await using _tasks = soloNode(cluster, { protectPod }).start()
  const pods = cluster.client.of(pod)
  const spec = { nodeName: solo.name, containers: [{ name: 'c', image: 'i' }] }
  await pods.create({ metadata: { name: 'own' }, spec }, 'default', ctx)
  await pods.create({ metadata: { name: 'host' }, spec: { ...spec, hostNetwork: true } }, 'default', ctx)
  const phaseOf = async (name: string) => (await pods.get(name, 'default', ctx)).status.phase
  await cluster.clock.advance('5s')
  deepEqual(asked, [['own', 1]])
  deepEqual([await phaseOf('own'), await phaseOf('host')], ['Pending', 'Running'])
  enforced.resolve()
  await cluster.clock.advance('5s')
  equal(await phaseOf('own'), 'Running')
})
