// The commands that explanations end with, where the lab (cluster/lab) does not cover them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { apiService } from '../../api/apiregistration/v1/api-service.ts'
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { horizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { resourceQuota } from '../../api/core/v1/quota/resource-quota.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { readerOf } from './explainer/cluster-reader.ts'
import { why } from './why.ts'

const ctx = context(new AbortController().signal)

const workload = (app: string, spec: object = {}) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
})

async function ask<T extends ApiObject>(cluster: TestCluster, kind: ResourceType<T>, name: string) {
  await cluster.clock.advance('30s')
  const reader = readerOf(cluster.client, ctx, { nowMs: cluster.clock.nowMs() })
  const { waits, fixes } = await why(kind, await cluster.client.of(kind).get(name), reader, [])
  return { text: waits.join('\n'), fixes }
}

const autoscaler = (name: string) => ({
  metadata: { name: 'web' },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
  },
})

test('a ServiceAccount that does not exist is created', async () => {
  await using cluster = await startCluster()
  await cluster.client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { ...workload('web', { serviceAccountName: 'robot' }) } })
  const { text, fixes } = await ask(cluster, deployment, 'web')
  match(text, /^Its pods cannot be created: FailedCreate: .*serviceaccount "robot" not found\./)
  deepEqual(fixes, ['kubectl create serviceaccount robot -n default'])
})

test('a quota is raised so far that all pods of the workload can be created', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  await client.of(resourceQuota).create({ metadata: { name: 'team' }, spec: { hard: { 'requests.cpu': '500m' } } })
  await cluster.clock.advance('1s')
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '250m' } } }]
  await client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { replicas: 8, ...workload('web', { containers }) } })
  const { text, fixes } = await ask(cluster, deployment, 'web')
  match(text, /exceeded quota: team, requested: requests\.cpu=250m, used: requests\.cpu=500m/)
  deepEqual(fixes, [`kubectl patch quota/team --type=merge -p '{"spec":{"hard":{"requests.cpu":"2"}}}' -n default`])
})

test('resources that a quota counts are specified, also for the ReplicaSet of a Deployment', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  const hard = { 'requests.cpu': '1', 'requests.memory': '1Gi', 'limits.memory': '2Gi' }
  await client.of(resourceQuota).create({ metadata: { name: 'team' }, spec: { hard } })
  await cluster.clock.advance('1s')
  await client.of(deployment).create({ metadata: { name: 'web' }, spec: workload('web') })
  const set = (flag: string) => `kubectl set resources deployment/web -c c --${flag} -n default`
  const expected = [[set('limits=memory=AMOUNT'), set('requests=cpu=100m'), set('requests=memory=128Mi')].join(' && ')]
  deepEqual((await ask(cluster, deployment, 'web')).fixes, expected)
  const [made] = (await client.of(replicaSet).list({})).items
  deepEqual((await ask(cluster, replicaSet, made?.metadata.name ?? '')).fixes, expected)
})

test('an autoscaler names its target that does not exist, and a similar one', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  await client.of(horizontalPodAutoscaler).create(autoscaler('wep'))
  deepEqual(await ask(cluster, horizontalPodAutoscaler, 'web'), {
    text: 'It scales nothing: Deployment/wep does not exist in the namespace default.',
    fixes: [`kubectl patch hpa/web --type=merge -p '{"spec":{"scaleTargetRef":{"name":"NAME"}}}' -n default`],
  })
  await client.of(deployment).create({ metadata: { name: 'web' }, spec: workload('web') })
  deepEqual(await ask(cluster, horizontalPodAutoscaler, 'web'), {
    text: 'It scales nothing: Deployment/wep does not exist in the namespace default. Did you mean web?',
    fixes: [`kubectl patch hpa/web --type=merge -p '{"spec":{"scaleTargetRef":{"name":"web"}}}' -n default`],
  })
})

test('a budget without room gets one more replica, or is made smaller', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  const budget = (app: string) => ({
    metadata: { name: app },
    spec: { minAvailable: 1, selector: { matchLabels: { app } } },
  })
  await client.of(deployment).create({ metadata: { name: 'web' }, spec: workload('web') })
  await client
    .of(pod)
    .create({ metadata: { name: 'one', labels: { app: 'one' } }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  for (const app of ['web', 'one', 'none']) await client.of(podDisruptionBudget).create(budget(app))
  const fixesOf = async (name: string) => (await ask(cluster, podDisruptionBudget, name)).fixes
  deepEqual(await fixesOf('web'), ['kubectl scale deployment/web --replicas=2 -n default'])
  deepEqual(await fixesOf('one'), [`kubectl patch pdb/one --type=merge -p '{"spec":{"minAvailable":0}}' -n default`])
  deepEqual(await fixesOf('none'), [])
})

test('a cordoned node is uncordoned, unless it is being drained', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  await client.of(deployment).create({ metadata: { name: 'web' }, spec: workload('web') })
  await cluster.clock.advance('5s')
  await client.of(node).patch('node-0', '', { spec: { unschedulable: true } }, 'merge')
  deepEqual(await ask(cluster, node, 'node-0'), {
    text: 'It is cordoned: no new pods are scheduled on it.',
    fixes: ['kubectl uncordon node-0'],
  })
  await client
    .of(podDisruptionBudget)
    .create({ metadata: { name: 'web' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } })
  const { text, fixes } = await ask(cluster, node, 'node-0')
  match(text, /^Its drain is blocked: pod default\/web-\S+ cannot be evicted .*\nIt is cordoned/)
  deepEqual(fixes, ['kubectl scale deployment/web --replicas=2 -n default'])
})

test('all requests that are too large are lowered with one command; pods of an earlier revision have none', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  const containers = (cpu: string) => [
    { name: 'c', image: 'i', resources: { requests: { cpu, memory: '900Gi' } } },
    { name: 'd', image: 'i', resources: { requests: { 'ephemeral-storage': '900Gi' } } },
  ]
  await client
    .of(deployment)
    .create({ metadata: { name: 'big' }, spec: workload('big', { containers: containers('64') }) })
  const { text, fixes } = await ask(cluster, deployment, 'big')
  match(text, /It requests 64 CPUs; .* It requests 900Gi of memory; .* It requests 900Gi of ephemeral-storage; /)
  equal(fixes.length, 1)
  match(
    fixes[0] ?? '',
    /^kubectl set resources deployment\/big -c c --requests=cpu=8,memory=\S+Gi -n default && kubectl set resources deployment\/big -c d --requests=ephemeral-storage=\S+Gi -n default$/,
  )
  await client
    .of(deployment)
    .patch('big', 'default', { spec: { template: { spec: { containers: containers('32') } } } }, 'strategic')
  const later = await ask(cluster, deployment, 'big')
  match(
    later.text,
    /Pod big-\S+: It cannot be scheduled: .* It requests 32 CPUs; [^]*\nPod big-\S+ of an earlier revision: .* It requests 64 CPUs; /,
  )
  equal(later.fixes.length, 1)
})

test('a DaemonSet that no node matches names the label of its nodeSelector', async () => {
  await using cluster = await startCluster()
  await cluster.client
    .of(daemonSet)
    .create({ metadata: { name: 'agent' }, spec: workload('agent', { nodeSelector: { gpu: 'true' } }) })
  deepEqual(await ask(cluster, daemonSet, 'agent'), {
    text: 'No node matches its node selector and tolerations.\nNode node-0 does not have the label gpu=true of its nodeSelector.',
    fixes: ['kubectl label node node-0 gpu=true'],
  })
})

test('a namespace that an absent extension server delays names its APIService', async () => {
  await using cluster = await startCluster()
  const { client, clock } = cluster
  await client.of(apiService).create({
    metadata: { name: 'v1.ghost.example.com' },
    spec: {
      group: 'ghost.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { name: 'ghost', namespace: 'default' },
    },
  })
  await clock.advance('5s')
  await client.of(namespace).create({ metadata: { name: 'old' } })
  await client.of(namespace).delete('old')
  const { text, fixes } = await ask(cluster, namespace, 'old')
  match(text, /\nThe APIService v1\.ghost\.example\.com delays it: It is not available: ServiceNotFound: /)
  deepEqual(fixes, ['kubectl delete apiservice v1.ghost.example.com'])
})
