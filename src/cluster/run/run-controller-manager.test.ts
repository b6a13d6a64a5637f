// Controller managers in their own processes, over HTTPS: one leads, and after its orderly end the next takes over at
// once.
import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { read } from './component-server.harness.ts'
import { controllerSettingsOf } from '../flags/controller-flags.ts'
import { controllerManagerSettings } from '../flags/controller-manager-flags.ts'
import { adminUser } from '../client/component-users.ts'
import { runControllerManager } from './run-controller-manager.ts'
import { serveCluster } from './served-cluster.harness.ts'

const ctx = context(new AbortController().signal)

test('a separate controller manager works with any API server, each controller has its account, and the next manager takes over', async () => {
  await using served = await serveCluster({ controllerManagers: 0 })
  const { cluster, certificates, kubeconfig } = served
  const accountKey = certificates.accountKey.privateKey
  const start = () => {
    const stop = new AbortController()
    const leading = Promise.withResolvers<void>()
    const serving = Promise.withResolvers<number>()
    const ended = runControllerManager(
      {
        kubeconfig,
        log: silentLog,
        accountKey,
        serve: { host: '127.0.0.1', port: 0 },
        onServe: serving.resolve,
        onLead: leading.resolve,
      },
      stop.signal,
    )
    return { stop, leading: leading.promise, serving: serving.promise, ended }
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
  const made = [...cluster.flow.events()].find(
    ({ from, what }) => from === 'controller/deployment' && what === 'create replicasets',
  )
  match(made?.allowedBy ?? '', /ServiceAccount "deployment-controller\/kube-system"/)
  const port = await first.serving
  equal((await read(port, '/healthz')).text, 'ok')
  equal((await read(port, '/metrics')).status, 401)
  const accounts = cluster.client('test', adminUser).of(serviceAccount)
  equal((await accounts.get('deployment-controller', 'kube-system', ctx)).metadata.name, 'deployment-controller')
  const secrets = cluster.client('test', adminUser).of(secret)
  const annotations = { 'kubernetes.io/service-account.name': 'deployment-controller' }
  const type = 'kubernetes.io/service-account-token'
  await secrets.create({ metadata: { name: 'kept', annotations }, type }, 'kube-system', ctx)
  for await (const event of secrets.watch({ namespace: 'kube-system', resourceVersion: '0' }, ctx))
    if (event.type !== 'BOOKMARK' && event.object.data?.['token'] !== undefined) break
  const second = start()
  first.stop.abort()
  await first.ended
  await second.leading
  await deployments.patch('web', 'default', { spec: { replicas: 3 } }, 'merge', ctx)
  await available(3)
  second.stop.abort()
  await second.ended
  equal((await deployments.get('web', 'default', ctx)).status.readyReplicas, 3)
})

test('flags of a controller manager', () => {
  const lease = { name: 'kube-controller-manager', namespace: 'kube-system' }
  const times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }
  deepEqual(controllerManagerSettings({}), {
    serve: { host: '127.0.0.1', port: 10257 },
    hasAccounts: true,
    legacyTokenCleanUpMs: 365 * 24 * 3_600_000,
    controllerSettings: controllerSettingsOf({}),
    lease: { ...lease, ...times },
  })
  deepEqual(
    controllerManagerSettings({
      'secure-port': '0',
      'use-service-account-credentials': 'false',
      'legacy-service-account-token-clean-up-period': '24h',
      'horizontal-pod-autoscaler-sync-period': '5s',
      'leader-elect': 'false',
    }),
    {
      hasAccounts: false,
      legacyTokenCleanUpMs: 24 * 3_600_000,
      controllerSettings: controllerSettingsOf({ 'horizontal-pod-autoscaler-sync-period': '5s' }),
      lease: 'none',
    },
  )
  const own = controllerManagerSettings({
    'leader-elect-lease-duration': '60s',
    'leader-elect-resource-name': 'ours',
    'leader-elect-resource-namespace': 'team',
  })
  deepEqual(own.lease, { ...times, name: 'ours', namespace: 'team', leaseMs: 60_000 })
  for (const [flags, wrong] of [
    [{ 'secure-port': '70000' }, /--secure-port "70000"/],
    [{ 'use-service-account-credentials': 'yes' }, /neither true nor false/],
    [{ 'leader-elect': 'maybe' }, /--leader-elect "maybe"/],
    [{ 'leader-elect-lease-duration': '10s' }, /must be more than --leader-elect-renew-deadline/],
    [{ 'leader-elect-retry-period': '9s' }, /must be more than 1.2 times/],
    [{ 'legacy-service-account-token-clean-up-period': 'long' }, /not a duration/],
  ] as const)
    throws(() => controllerManagerSettings(flags), wrong)
})
