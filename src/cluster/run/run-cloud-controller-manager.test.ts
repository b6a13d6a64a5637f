// The cloud controllers over HTTPS with a provider in another process.
import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lease } from '../../api/coordination/v1/lease.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { adminUser } from '../client/component-users.ts'
import { leaseSettingsOf } from '../flags/leader-election-flags.ts'
import { runCloudControllerManager } from './run-cloud-controller-manager.ts'
import { serveCluster } from './served-cluster.harness.ts'

const called = context(new AbortController().signal)
const program = fileURLToPath(new URL('../../cloud/external/provider-server.harness.ts', import.meta.url))

test('a Service gets its load balancer from a provider that starts later', async () => {
  await using served = await serveCluster({ nodes: 1 })
  await using cleanUps = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-ccm-'))
  cleanUps.defer(() => rm(folder, { recursive: true }))
  const socket = join(folder, 'provider.sock')
  const stop = new AbortController()
  const leading = Promise.withResolvers<void>()
  const waited = Promise.withResolvers<void>()
  const log = { ...silentLog, warn: () => waited.resolve() }
  const options = { kubeconfig: served.kubeconfig, providerSocket: socket, log, onLead: leading.resolve }
  const running = runCloudControllerManager(
    { ...options, lease: leaseSettingsOf({}, 'cloud-controller-manager') },
    stop.signal,
  )
  await waited.promise
  const provider = spawn(process.execPath, [program, socket], { stdio: 'ignore' })
  cleanUps.defer(() => void provider.kill('SIGKILL'))
  await leading.promise
  const client = served.cluster.client('test', adminUser)
  const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] }
  await client.of(service).create({ metadata: { name: 'web' }, spec }, 'default', called)
  for await (const event of client.of(service).watch({ namespace: 'default' }, called))
    if (event.type !== 'BOOKMARK' && event.object.status.loadBalancer.ingress?.length === 1) break
  const found = await client.of(service).get('web', 'default', called)
  equal(found.status.loadBalancer.ingress?.[0]?.ip, '203.0.113.1')
  stop.abort()
  await running
  const held = await client.of(lease).get('cloud-controller-manager', 'kube-system', called)
  equal(held.spec.holderIdentity, '')
  provider.kill('SIGKILL')
  await once(provider, 'close')
})

test('it ends while it waits for the provider', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const stop = new AbortController()
  const waited = Promise.withResolvers<void>()
  const log = { ...silentLog, warn: () => waited.resolve() }
  const { kubeconfig } = served
  const options = { kubeconfig, providerSocket: '/none/provider.sock', lease: 'none' as const, log, onLead: () => {} }
  const running = runCloudControllerManager(options, stop.signal)
  await waited.promise
  stop.abort()
  await running
})
