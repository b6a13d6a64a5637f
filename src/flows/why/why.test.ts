// Explanations of real situations in a cluster.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { noCause, type FlowEvent, type FlowId } from '../../base/observability/flow-recorder.ts'
import { validatingWebhookConfiguration } from '../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { horizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { job } from '../../api/batch/v1/job.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { resourceQuota } from '../../api/core/v1/quota/resource-quota.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { ingress } from '../../api/networking/v1/ingress.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { explainers } from './explainers.ts'
import { why, type Why } from './why.ts'

const ctx = context(new AbortController().signal)
let cluster: TestCluster

const template = (app: string, image: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image, ...more }], terminationGracePeriodSeconds: 0 },
})
const workload = (app: string, image: string, more: object = {}) => ({
  selector: { matchLabels: { app } },
  template: template(app, image, more),
})

async function ask(kind: Kind, name: string, home = 'default', recorded: readonly FlowEvent[] = []): Promise<Why> {
  const { client, clock } = cluster
  const object = await client.of(kind).get(name, kind.namespaced ? home : '', ctx)
  const reader = {
    list: async <T extends ApiObject>(of: Kind<T>, inside: string) =>
      (await client.of(of).list(inside === '' ? {} : { namespace: inside }, ctx)).items,
    find: <T extends ApiObject>(of: Kind<T>, inside: string, wanted: string) => client.of(of).find(wanted, inside, ctx),
    nowMs: clock.nowMs(),
  }
  return why(kind, object, reader, recorded)
}

const create = (kind: Kind, name: string, rest: object) =>
  cluster.client.of(kind).create({ metadata: { name }, ...rest }, kind.namespaced ? 'default' : '', ctx)

async function createPods(): Promise<void> {
  const huge = { resources: { requests: { cpu: '100' } } }
  await create(pod, 'huge', { spec: template('huge', 'i', huge).spec })
  await create(pod, 'gated', {
    spec: { ...template('gated', 'i').spec, schedulingGates: [{ name: 'example.com/gate' }] },
  })
  await create(pod, 'loop', { spec: template('loop', 'crash').spec })
  await create(pod, 'unready', {
    spec: template('unready', 'i', { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 } }).spec,
  })
  await create(pod, 'first-things', {
    spec: { ...template('first', 'i').spec, initContainers: [{ name: 'prepare', image: 'i' }] },
  })
}

async function createWorkloads(): Promise<void> {
  await create(deployment, 'broken', { spec: { replicas: 3, ...workload('broken', 'gone') } })
  await create(deployment, 'crashing', { spec: { replicas: 2, ...workload('crashing', 'crash') } })
  await create(deployment, 'fine', { spec: { replicas: 1, ...workload('fine', 'i') } })
  await create(deployment, 'paused', { spec: { replicas: 1, paused: true, ...workload('paused', 'i') } })
  await create(statefulSet, 'db', { spec: { replicas: 3, serviceName: 'db', ...workload('db', 'gone') } })
  await create(daemonSet, 'agent', { spec: workload('agent', 'gone') })
  const never = { ...template('work', 'crash'), spec: { ...template('work', 'crash').spec, restartPolicy: 'Never' } }
  await create(job, 'work', { spec: { backoffLimit: 0, template: never } })
  await create(cronJob, 'nightly', {
    spec: { schedule: '0 3 * * *', suspend: true, jobTemplate: { spec: { template: never } } },
  })
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'fine' }
  await create(horizontalPodAutoscaler, 'unmatched', { spec: { maxReplicas: 3, scaleTargetRef } })
}

async function createServices(): Promise<void> {
  const ports = [{ port: 80 }]
  await create(service, 'unmatched', { spec: { selector: { app: 'none' }, ports } })
  await create(service, 'unready', { spec: { selector: { app: 'broken' }, ports } })
  await create(service, 'balanced', { spec: { type: 'LoadBalancer', selector: { app: 'fine' }, ports } })
  await create(ingress, 'unmatched', { spec: { defaultBackend: { service: { name: 'none', port: { number: 80 } } } } })
}

async function createVolumes(): Promise<void> {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await create(persistentVolumeClaim, 'plain', { spec: { ...claim, storageClassName: '' } })
  await create(pod, 'unbound', {
    spec: { ...template('unbound', 'i').spec, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'plain' } }] },
  })
  await create(persistentVolumeClaim, 'classless', { spec: { ...claim, storageClassName: 'none' } })
  await create(storageClass, 'lazy', { provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer' })
  await create(persistentVolumeClaim, 'lazy', { spec: { ...claim, storageClassName: 'lazy' } })
}

async function createOthers(): Promise<void> {
  await create(customResourceDefinition, 'widgets.example.com', {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await create(configMap, 'settings', { data: { a: 'b' } })
}

/** Deployments whose pods are rejected by a quota and by a webhook. */
async function createRejected(): Promise<void> {
  const { client, clock } = cluster
  await create(validatingWebhookConfiguration, 'deny', {
    webhooks: [
      {
        name: 'deny.example.com',
        // No server listens there.
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-public' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  await create(namespace, 'tight', {})
  await clock.advance('1s')
  await client.of(resourceQuota).create({ metadata: { name: 'none' }, spec: { hard: { pods: '0' } } }, 'tight', ctx)
  await clock.advance('1s')
  for (const home of ['tight', 'kube-public'])
    await client
      .of(deployment)
      .create({ metadata: { name: 'refused' }, spec: { replicas: 1, ...workload('refused', 'i') } }, home, ctx)
}

/** A cordoned node with a pod that may not be evicted, and a pod on a node that will be powered off. */
async function createOnNodes(): Promise<void> {
  const { client } = cluster
  await client.of(node).patch('node-1', '', { spec: { unschedulable: true } }, 'merge', ctx)
  for (const [name, nodeName] of [
    ['kept', 'node-1'],
    ['lost', 'node-2'],
  ] as const)
    await create(pod, name, { spec: { ...template(name, 'i').spec, nodeName } })
  await client.of(pod).patch('kept', 'default', { metadata: { labels: { app: 'kept' } } }, 'merge', ctx)
  await create(podDisruptionBudget, 'all', { spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } } })
}

before(async () => {
  const images = { gone: 'missing', crash: () => Promise.resolve(3) } as const
  const command = ([program]: readonly string[]) => Promise.resolve({ exitCode: program === 'false' ? 1 : 0 })
  cluster = await startCluster({ nodes: 3, simulation: { images, command } })
  const { client, clock } = cluster
  // The node that will be powered off only has pods with its nodeName.
  const taints = [{ key: 'example.com/lost', effect: 'NoSchedule' }]
  await client.of(node).patch('node-2', '', { spec: { taints } }, 'merge', ctx)
  await createPods()
  await createWorkloads()
  await createServices()
  await createVolumes()
  await createOthers()
  await createRejected()
  await create(namespace, 'stuck', {})
  await client.of(configMap).create({ metadata: { name: 'held', finalizers: ['example.com/hold'] } }, 'stuck', ctx)
  await createOnNodes()
  await clock.advance('10s')
  await client.of(namespace).delete('stuck', '', {}, ctx)
  await client.of(configMap).delete('held', 'stuck', {}, ctx)
  await cluster.powerOff('node-2')
  await clock.advance('2m')
})

after(() => cluster.stop())

const rows: [kind: Kind, name: string, sentence: RegExp][] = [
  [pod, 'huge', /It cannot be scheduled: Unschedulable: 0\/3 nodes are available: .*Insufficient cpu/],
  [pod, 'unbound', /It cannot be scheduled: .*unbound immediate PersistentVolumeClaims/],
  [
    pod,
    'unready',
    /Container c has been running since .*, but its readiness probe fails: the command "false" every 1 s \(\d+ times, last at \S+Z\)\./,
  ],
  [
    pod,
    'kept',
    /It cannot be evicted from its cordoned node node-1 because of the PodDisruptionBudget all: It allows no disruption: 1 of 1 pod is healthy, and 1 must be/,
  ],
  [pod, 'lost', /Its node node-2 has a problem: Its kubelet has stopped reporting: NodeStatusUnknown/],
  [node, 'node-2', /Its kubelet has stopped reporting: NodeStatusUnknown: Kubelet stopped posting node status/],
  [podDisruptionBudget, 'all', /It allows no disruption: 1 of 1 pod is healthy, and 1 must be/],
  [
    pod,
    'gated',
    /It is not scheduled until its scheduling gates are removed by the controllers that set them: example\.com\/gate/,
  ],
  [pod, 'first-things', /^It waits for its init container prepare\. Container prepare has been running since \S+Z\.$/],
  [
    horizontalPodAutoscaler,
    'unmatched',
    /^It does not scale Deployment\/fine, because a metric cannot be used: failed to get cpu utilization: missing request for cpu/,
  ],
  [
    ingress,
    'unmatched',
    /^No ingress controller has assigned an address\..* Its backend Service none does not exist\. No ingress controller has taken it/,
  ],
  [
    pod,
    'loop',
    /Container c \(crash\) ends again and again \(CrashLoopBackOff\)\. It was restarted \d+ times\. It last exited with code 3/,
  ],
  [
    deployment,
    'broken',
    /It needs 3 pods: 3 up to date, 0 available, 3 in total\..*3 pods \(broken-\S+ and 2 others\): Container c cannot start, because its image gone cannot be pulled \((ImagePullBackOff|ErrImagePull)\): image "gone" does not exist\./,
  ],
  [
    deployment,
    'crashing',
    /2 pods \(crashing-\S+ and 1 other\): Container c \(crash\) ends again and again \(CrashLoopBackOff\)(?!.*Pod crashing)/,
  ],
  [deployment, 'paused', /It is paused: changes of its pod template are not rolled out/],
  [statefulSet, 'db', /It needs 3 pods: 0 ready\. It creates its pods in order.*Pod db-0: Container c/],
  [daemonSet, 'agent', /It needs a pod on 2 nodes: 0 ready/],
  [job, 'work', /It has failed: BackoffLimitExceeded/],
  [cronJob, 'nightly', /It is suspended.*starts a Job on the schedule "0 3 \* \* \*"; it has not started one yet/],
  [service, 'unmatched', /It has no endpoints: no pod in its namespace has the labels app=none/],
  [service, 'unready', /It has no ready endpoints: 0 of 3 pods with the labels app=broken are ready/],
  [service, 'balanced', /It has no load balancer: no cloud controller has assigned an address/],
  [
    persistentVolumeClaim,
    'plain',
    /It is not bound to a volume: it has no storage class, so it needs a PersistentVolume/,
  ],
  [persistentVolumeClaim, 'classless', /the StorageClass none does not exist\. The cluster has lazy\.$/],
  [persistentVolumeClaim, 'lazy', /its StorageClass lazy waits for the first pod that uses the claim/],
  [
    namespace,
    'stuck',
    /It has been terminating since .*the namespace controller removes kubernetes.*example\.com\/hold/,
  ],
  [node, 'node-1', /It is cordoned: no new pods are scheduled on it/],
]
for (const [kind, name, sentence] of rows)
  test(`${kind.singular}/${name} is explained`, async () => {
    match((await ask(kind, name)).waits.join(' '), sentence)
  })

const rejections: [home: string, sentence: RegExp][] = [
  [
    'tight',
    /Its pods cannot be created: FailedCreate: pods "refused-\S+" is forbidden: exceeded quota: none, requested: pods=1/,
  ],
  ['kube-public', /Its pods cannot be created: FailedCreate: .*failed calling webhook "deny\.example\.com"/],
]
for (const [home, sentence] of rejections)
  test(`a Deployment whose pods are rejected: the explanation names the cause: ${home}`, async () => {
    match((await ask(deployment, 'refused', home)).waits.join(' '), sentence)
  })

test('a used up quota is explained, and its rejections are not repeated', async () => {
  deepEqual((await ask(resourceQuota, 'none', 'tight')).waits, ['Its quota of pods is used up: 0 of 0.'])
  const [set] = (await cluster.client.of(replicaSet).list({ namespace: 'tight' }, ctx)).items
  deepEqual((await ask(replicaSet, set?.metadata.name ?? '', 'tight')).tried, [])
})

test('an explanation of a pod that is not scheduled omits what the scheduler tried with preemption and claims', async () => {
  const { status } = await cluster.client.of(pod).get('huge', 'default', ctx)
  const tried = /no new claims to deallocate|preemption:/
  match(status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '', tried)
  doesNotMatch(JSON.stringify(await ask(pod, 'huge')), tried)
})

test('a failed request is reported until a similar one succeeds', async () => {
  const call = (outcome: string): FlowEvent => ({
    id: 1 as FlowId,
    arrow: 'call',
    from: 'controller/x',
    to: 'API Server',
    what: 'update nodes',
    outcome,
    atMs: 0,
    endMs: 0,
    revision: 0,
    cause: noCause,
    allowedBy: undefined,
    span: undefined,
    stages: [],
    object: { resource: 'nodes', namespace: '', name: 'node-0' },
  })
  const attempts = async (...outcomes: string[]) => (await ask(node, 'node-0', '', outcomes.map(call))).tried
  deepEqual(await attempts('409 Conflict', '409 Conflict'), [
    'controller/x tried to update nodes: 409 Conflict (2 times)',
  ])
  for (const well of ['200', '101', 'ok', 'allowed', 'patched'])
    deepEqual(await attempts('409 Conflict', well), [], well)
  deepEqual(await attempts('no such image'), ['controller/x tried to update nodes: no such image'])
  const probed = { ...call('failure'), from: 'kubelet/node-0', what: 'liveness probe of container c' }
  deepEqual((await ask(node, 'node-0', '', [probed])).tried, [
    'kubelet/node-0 ran the liveness probe of container c: failure',
  ])
})

test('without a problem the summary states what was checked', async () => {
  const checked = 'No problem found. Checked: its rollout and its pods, warning events, failed requests.'
  const nothing = { severity: 'info', waits: [], tried: [], notes: [], fixes: [] }
  deepEqual(await ask(deployment, 'fine'), { ...nothing, summary: checked })
  match((await ask(node, 'node-0')).summary, /^No problem found\. Checked: its conditions and taints/)
  match((await ask(configMap, 'settings')).summary, /^It is stored\. Pods and controllers read it; no component/)
})

test('finalizers are explained', async () => {
  match(
    (await ask(configMap, 'held', 'stuck')).waits[0] ?? '',
    /waits for its finalizer: no component of Coxswain removes example\.com\/hold/,
  )
})

test('there is at most one explainer for a kind', () => {
  equal(new Set(explainers.map(({ kind }) => kind)).size, explainers.length)
})
