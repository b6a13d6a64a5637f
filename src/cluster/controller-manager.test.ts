// Controller managers of their own, over HTTPS: one works, and when it ends in order the next goes on at once.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../base/clock.ts'
import { context } from '../base/context.ts'
import { silentLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { deployment } from '../api/apps/v1/deployment.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { MemoryStore } from '../store/memory.ts'
import { Cluster } from './cluster.ts'
import { adminUser } from './identities.ts'
import { temporaryCertificates } from './pki.ts'
import { clusterPolicies } from './policies.ts'
import { runControllerManager } from './run-controller-manager.ts'
import { serve } from './serve.ts'

const ctx = context(new AbortController().signal)

test('a controller manager of its own works on any API server; the next takes over', async () => {
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 1, controllerManagers: 0 }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: ['127.0.0.1'] })
  const { policies } = clusterPolicies({ ...options, ...certificates, platform: nodePlatform })
  const cluster = new Cluster({ ...options, policies, store: new MemoryStore(realClock) })
  cluster.start()
  const server = await serve(cluster, { ...options, host: '127.0.0.1', port: 0, certificates, platform: nodePlatform })
  await cluster.ready
  const start = () => {
    const stop = new AbortController()
    const leading = Promise.withResolvers<void>()
    const { kubeconfig } = server
    const ended = runControllerManager({ kubeconfig, log: silentLog, onLead: leading.resolve }, stop.signal)
    return { stop, leading: leading.promise, ended }
  }
  const deployments = cluster.client('test', adminUser).of(deployment)
  const available = async (replicas: number) => {
    for await (const event of deployments.watch({ resourceVersion: '0' }, ctx))
      if (event.type !== 'BOOKMARK' && event.object.status.availableReplicas === replicas) return
  }
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const first = start()
  await first.leading
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await available(2)
  const second = start()
  first.stop.abort()
  await first.ended
  await second.leading
  await deployments.patch('web', 'default', { spec: { replicas: 3 } }, 'merge', ctx)
  await available(3)
  second.stop.abort()
  await second.ended
  equal((await deployments.get('web', 'default', ctx)).status.readyReplicas, 3)
  await server.close(0)
  await cluster.stop()
})
