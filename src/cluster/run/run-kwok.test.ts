// kwok over HTTPS, beside a cluster in another process.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { adminUser } from '../client/component-users.ts'
import { runKwok } from './run-kwok.ts'
import { serveCluster } from './served-cluster.harness.ts'

const called = context(new AbortController().signal)

test('a node and its pod are simulated until it ends', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const client = served.cluster.client('test', adminUser)
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  const running = runKwok(
    {
      nodes: { by: 'all' },
      stages: [],
      nodeIp: '10.0.0.1',
      podRange: mustParseCidr('10.9.0.0/24'),
      version: '1',
      kubeconfig: served.kubeconfig,
      log: silentLog,
      lease: 'none',
      onReady: ready.resolve,
    },
    stop.signal,
  )
  await Promise.race([ready.promise, running])
  const watch = new AbortController()
  const phases = client.of(pod).watch({ namespace: 'default' }, context(watch.signal))
  await client.of(node).create({ metadata: { name: 'fake' } }, called)
  const spec = { nodeName: 'fake', containers: [{ name: 'c', image: 'nginx' }] }
  await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', called)
  for await (const event of phases)
    if (event.type !== 'BOOKMARK' && event.object.status.phase === 'Running') {
      equal(event.object.metadata.name, 'p')
      break
    }
  watch.abort()
  stop.abort()
  await running
})
