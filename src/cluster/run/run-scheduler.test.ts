// Schedulers in their own processes, over HTTPS: one binds, the next takes over at once, and metrics require
// authorization.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { objectKey } from '../../api/meta/object.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { read } from './component-server.harness.ts'
import { fetchSchedulingExplanation } from '../client/scheduling-explanation.ts'
import { adminUser } from '../client/component-users.ts'
import { runScheduler } from './run-scheduler.ts'
import { serveCluster } from './served-cluster.harness.ts'

const ctx = context(new AbortController().signal)

test('a separate scheduler binds pods of any API server, and the next scheduler takes over', async () => {
  await using served = await serveCluster()
  const { cluster, kubeconfig } = served
  await cluster.components.get('scheduler')?.kill()
  const start = () => {
    const stop = new AbortController()
    const leading = Promise.withResolvers<void>()
    const serving = Promise.withResolvers<number>()
    const ended = runScheduler(
      {
        kubeconfig,
        configuration: {},
        log: silentLog,
        serve: { host: '127.0.0.1', port: 0 },
        onServe: serving.resolve,
        onLead: leading.resolve,
      },
      stop.signal,
    )
    return { stop, leading: leading.promise, port: serving.promise, ended }
  }
  const client = cluster.client('test', adminUser)
  const runs = async (name: string) => {
    const resources = { requests: { cpu: '10m' } }
    const spec = { containers: [{ name: 'c', image: 'i', resources }] }
    await client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
    for await (const event of client.of(pod).watch({ resourceVersion: '0' }, ctx))
      if (event.type !== 'BOOKMARK' && event.object.metadata.name === name && event.object.status.phase === 'Running')
        return
  }
  const first = start()
  await first.leading
  await runs('a')
  const decided = await fetchSchedulingExplanation(kubeconfig, objectKey('default', 'a'), ctx.signal)
  deepEqual(
    decided?.nodes.map(({ node, verdict }) => `${node} ${verdict}`),
    ['node-0 fits'],
  )
  equal(decided?.nodeName, 'node-0')
  equal(await fetchSchedulingExplanation(kubeconfig, objectKey('default', 'missing'), ctx.signal), undefined)
  const port = await first.port
  equal((await read(port, '/healthz')).text, 'ok')
  equal((await read(port, '/metrics')).status, 401)
  const requested = await client.of(serviceAccount).createSubresource('default', 'default', 'token', { spec: {} }, ctx)
  const { token } = (requested as { status: { token: string } }).status
  equal((await read(port, '/metrics', token)).status, 403)
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:monitoring' }
  await client.of(clusterRoleBinding).create({ metadata: { name: 'reader' }, subjects, roleRef }, '', ctx)
  const { status, text } = await read(port, '/metrics', token)
  equal(status, 200)
  match(text, /scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1\n/)
  match(text, /leader_election_master_status{name="kube-scheduler"} 1\n/)
  match(text, /rest_client_requests_total{code="201",host="127.0.0.1:\d+",method="POST"} \d/)
  match((await read(port, '/metrics/slis', token)).text, /kubernetes_healthcheck{name="ping",type="healthz"} 1\n/)
  equal((await read(port, '/metrics/unknown', token)).status, 403)
  const rules = [{ nonResourceURLs: ['/metrics/resources'], verbs: ['get'] }]
  await client.of(clusterRole).create({ metadata: { name: 'resources' }, rules }, '', ctx)
  const reader = { metadata: { name: 'resources' }, subjects, roleRef: { ...roleRef, name: 'resources' } }
  await client.of(clusterRoleBinding).create(reader, '', ctx)
  match((await read(port, '/metrics/resources', token)).text, /kube_pod_resource_request{.*pod="a",.*} 0.01\n/)
  const second = start()
  first.stop.abort()
  await first.ended
  await second.leading
  await runs('b')
  second.stop.abort()
  await second.ended
})
