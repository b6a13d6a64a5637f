// kwok in a cluster with virtual time: nodes without kubelets, their pods, and Stages of the cluster.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { customResource } from '../../api/apiextensions/resource-type/custom-resource.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { job } from '../../api/batch/v1/job.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { event } from '../../api/core/v1/event.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { kwokAnnotation, type KwokSettings } from '../../kwok/kwok.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { kwokComponent } from './kwok.ts'

const annotated = { by: 'annotations', selector: parseLabelSelector(kwokAnnotation) } as const

async function withKwok(settings: Partial<KwokSettings> = {}) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const logged: string[] = []
  const log = {
    ...silentLog,
    warn: (message: string, fields: object = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  }
  const start = () => {
    const tasks = new TaskGroup()
    const host = {
      clock,
      log,
      random: seededRandom(1),
      flow: new FlowRecorder(clock),
      metrics: new Metrics(),
      client: () => client,
    }
    const common = {
      nodes: annotated,
      stages: [],
      nodeIp: '10.0.0.1',
      podRange: mustParseCidr('10.9.0.0/30'),
      version: '1',
    }
    kwokComponent({ ...common, ...settings })
      .prepare(host)
      .start(tasks)
    return tasks
  }
  let tasks = start()
  const end = async () => {
    tasks.stop()
    await tasks.join()
  }
  const addNode = (name: string, annotations: Record<string, string> = { [kwokAnnotation]: 'fake' }): Promise<Node> =>
    client.of(node).create({ metadata: { name, annotations } })
  return {
    cluster,
    client,
    logged,
    addNode,
    restart: async () => {
      await end()
      tasks = start()
    },
    async [Symbol.asyncDispose]() {
      await end()
      await cluster.stop()
    },
  }
}

const isReady = ({ status }: Node) =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
const container = { name: 'c', image: 'nginx' }
const web = (replicas: number) => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
  },
})

test('a node with the annotation becomes ready and stays so, and another one does not', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await kwok.addNode('fake')
  await kwok.addNode('other', {})
  const nodes = client.of(node)
  await cluster.until(async () => isReady(await nodes.get('fake')))
  const { status } = await nodes.get('fake')
  deepEqual(status.capacity, { cpu: '1k', memory: '1Ti', pods: '1M' })
  deepEqual(status.addresses?.[0], { type: 'InternalIP', address: '10.0.0.1' })
  await cluster.clock.advance('10m')
  ok(isReady(await nodes.get('fake')))
  equal(isReady(await nodes.get('other')), false)
  const held = await client.of(lease).get('fake', 'kube-node-lease')
  ok(cluster.clock.nowMs() - Date.parse(held.spec.renewTime ?? '') <= 10_000)
})

test('pods on simulated nodes run, complete and are deleted, and have addresses of their own', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await kwok.addNode('fake')
  await client.of(deployment).create(web(5))
  await cluster.until(async () => (await client.of(deployment).get('web')).status.readyReplicas === 5)
  const addresses = (await client.of(pod).list()).items.map(({ status }) => status.podIP)
  equal(new Set(addresses).size, 5)
  await kwok.restart()
  await client.of(deployment).modify('web', (copy) => void (copy.spec.replicas = 7))
  await cluster.until(async () => (await client.of(deployment).get('web')).status.readyReplicas === 7)
  equal(new Set((await client.of(pod).list()).items.map(({ status }) => status.podIP)).size, 7)
  const spec = { template: { spec: { containers: [container], restartPolicy: 'Never' as const } } }
  await client.of(job).create({ metadata: { name: 'once' }, spec })
  await cluster.until(async () => (await client.of(job).get('once')).status.succeeded === 1)
  await client.of(deployment).delete('web')
  await cluster.until(async () => (await client.of(pod).list({ labelSelector: 'app=web' })).items.length === 0)
})

test('a pod on a node that becomes a simulated one later runs from then on', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await kwok.addNode('late', {})
  await client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { nodeName: 'late', hostNetwork: true, containers: [container] } })
  await cluster.clock.advance('1m')
  equal((await client.of(pod).get('p')).status.phase, 'Pending')
  await client.of(node).patch('late', { metadata: { annotations: { [kwokAnnotation]: 'fake' } } })
  await cluster.until(async () => (await client.of(pod).get('p')).status.phase === 'Running')
  equal((await client.of(pod).get('p')).status.podIP, '10.0.0.1')
})

const failing = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: { name: pod-fails }
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:
    - { key: '.status.phase', operator: In, values: [Pending] }
  delay: { durationMilliseconds: 30000 }
  next:
    event: { type: Warning, reason: Exploded, message: as the stage says }
    statusTemplate: |
      phase: Failed
      reason: Exploded
      message: {{ printf "%s at %s" .metadata.name Now | Quote }}
`

test('a Stage of the cluster replaces the default ones of its kind, after its delay, until it is deleted', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await kwok.addNode('fake')
  await cluster.until(async () => isReady(await client.of(node).get('fake')))
  await cluster.apply(failing)
  const pods = client.of(pod)
  const create = (name: string) =>
    pods.create({ metadata: { name }, spec: { nodeName: 'fake', containers: [container] } })
  await create('p')
  await cluster.clock.advance('29s')
  equal((await pods.get('p')).status.phase, 'Pending')
  await cluster.clock.advance('2s')
  const { phase, reason, message } = (await pods.get('p')).status
  deepEqual([phase, reason], ['Failed', 'Exploded'])
  match(message ?? '', /^p at \d{4}-/)
  await cluster.until(async () =>
    (await client.of(event).list()).items.some(
      (each) => each.reason === 'Exploded' && each.source?.component === 'kwok',
    ),
  )
  const stage = customResource({
    group: 'kwok.x-k8s.io',
    version: 'v1alpha1',
    kind: 'Stage',
    plural: 'stages',
    namespaced: false,
  })
  await client.of(stage).delete('pod-fails')
  await create('q')
  await cluster.until(async () => (await pods.get('q')).status.phase === 'Running')
})

test('an invalid Stage has no effect but on the log', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await kwok.addNode('fake')
  await cluster.until(async () => isReady(await client.of(node).get('fake')))
  await cluster.apply(failing.replace('{{ printf', '{{ prinf'))
  await cluster.until(() => kwok.logged.length > 0)
  match(
    kwok.logged[0] ?? '',
    /a Stage is invalid and has no effect .*pod-fails.*statusTemplate: line 3: function \\"prinf\\" not defined/,
  )
  await client.of(pod).create({ metadata: { name: 'p' }, spec: { nodeName: 'fake', containers: [container] } })
  await cluster.until(async () => (await client.of(pod).get('p')).status.phase === 'Running')
})

test('a Stage may be about a custom resource, whose definition comes later', async () => {
  await using kwok = await withKwok()
  const { cluster, client } = kwok
  await cluster.until(async () => (await cluster.apply(failing).catch(() => [])).length > 0)
  await cluster.apply(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: { name: widget-ready }
spec:
  resourceRef: { apiGroup: example.com/v1, kind: Widget }
  selector: { matchExpressions: [{ key: .status.ready, operator: DoesNotExist }] }
  steps: [{ patch: { subresource: status, root: status, template: 'ready: {{ .spec.size }}' } }]
`)
  await cluster.clock.advance('5s')
  const schema = '{ type: object, x-kubernetes-preserve-unknown-fields: true }'
  await cluster.apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions: [{ name: v1, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: ${schema} } }]
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: 3 }
`)
  const widget = customResource<{ spec: { size: number }; status?: { ready: number } }>({
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
  })
  await cluster.until(async () => (await client.of(widget).get('w')).status?.ready === 3)
})
