// The flags of the autoscaler that `coxswain up` has. With the default period, the first evaluation would be after the
// timeout of the test.
import { equal, fail } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { horizontalPodAutoscaler } from '../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { createLog } from '../../src/base/observability/log.ts'
import { context } from '../../src/base/observability/context.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Client } from '../../src/client/client.ts'
import { HttpsTransport } from '../../src/client/transport/https-transport.ts'
import { up } from '../../src/cluster/run/up.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { newFolder } from '../process.ts'

test('autoscalers are evaluated in the period that a flag sets', { timeout: 14_000 }, async (t) => {
  const folder = await newFolder()
  const kubeconfigPath = join(folder, 'kubeconfig')
  await using running = await up({
    dataDirectory: join(folder, 'data'),
    kubeconfigPath,
    store: { kind: 'memory' },
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    controllerFlags: { 'horizontal-pod-autoscaler-sync-period': '100ms' },
    log: createLog({ clock: realClock, write: () => {}, format: 'json', level: 'info' }),
  })
  const { authority, identity } = parseKubeconfig(await readFile(kubeconfigPath, 'utf8'))
  const outbound = nodePlatform.outbound.connect({ origin: running.url, tls: { authority, ...identity } })
  try {
    const autoscalers = new Client(new HttpsTransport(outbound, 'test')).of(horizontalPodAutoscaler)
    const ctx = context(t.signal)
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'missing' }
    await autoscalers.create({ metadata: { name: 'web' }, spec: { maxReplicas: 3, scaleTargetRef } }, 'default', ctx)
    for await (const event of autoscalers.watch({ namespace: 'default' }, ctx)) {
      const [condition] = event.type === 'BOOKMARK' ? [] : (event.object.status.conditions ?? [])
      if (condition === undefined) continue
      equal(condition.reason, 'FailedGetScale')
      return
    }
    fail('the watch ended before the autoscaler was evaluated')
  } finally {
    await outbound.close()
  }
})
