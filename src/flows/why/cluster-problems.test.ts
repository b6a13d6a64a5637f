// Everything that is wrong in a cluster, ranked; and what `why` of a Deployment includes of its pods.
import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { validatingWebhookConfiguration } from '../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { event } from '../../api/core/v1/event.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { clusterProblems, type ClusterProblems } from './cluster-problems.ts'
import { readerOf } from './explainer/cluster-reader.ts'
import { explanationLines } from './explanation-text.ts'

const ctx = context(new AbortController().signal)
let cluster: TestCluster

const images = { gone: 'missing', crash: { exitCode: 1, log: ['no input'] } } as const

const workload = (app: string, image: string) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image }] } },
})

before(async () => {
  cluster = await startCluster({ nodes: 2, simulation: { images } })
  const { client, clock } = cluster
  await client.of(namespace).create({ metadata: { name: 'shop' } })
  await client.of(deployment).create({ metadata: { name: 'fine' }, spec: { replicas: 2, ...workload('fine', 'i') } })
  await client
    .of(deployment)
    .create({ metadata: { name: 'broken' }, spec: { replicas: 3, ...workload('broken', 'gone') } }, 'shop')
  await client
    .of(service)
    .create({ metadata: { name: 'broken' }, spec: { selector: { app: 'broken' }, ports: [{ port: 80 }] } }, 'shop')
  await client.of(pod).create({ metadata: { name: 'big' }, spec: huge }, 'shop')
  await client
    .of(pod)
    .create({ metadata: { name: 'loop' }, spec: { containers: [{ name: 'c', image: 'crash' }] } }, 'shop')
  await client.of(validatingWebhookConfiguration).create({
    metadata: { name: 'deny' },
    webhooks: [
      {
        name: 'deny.example.com',
        clientConfig: { service: { namespace: 'shop', name: 'none' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  // On purpose, so it is no problem.
  await client.of(cronJob).create(
    {
      metadata: { name: 'nightly' },
      spec: {
        schedule: '0 3 * * *',
        suspend: true,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    },
    'shop',
  )
  await client.of(node).patch('node-1', '', { spec: { unschedulable: true } }, 'merge')
  await clock.advance('1m')
})
after(() => cluster.stop())

const huge = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '64' } } }] }

const problemsIn = (home: string, client = cluster.client): Promise<ClusterProblems> =>
  clusterProblems(readerOf(client, ctx, { nowMs: cluster.clock.nowMs() }), home, [])

test('problems are ranked, each is listed once, and healthy objects are not listed', async () => {
  const { problems, omitted, checked, notes } = await problemsIn('')
  deepEqual(
    problems.map(({ severity, object, namespace: home }) => [severity, object, home]),
    [
      ['critical', 'validatingwebhookconfiguration/deny', ''],
      ['error', 'pod/big', 'shop'],
      ['error', 'deployment/broken', 'shop'],
      ['error', 'pod/loop', 'shop'],
      ['warning', 'node/node-1', ''],
      ['warning', 'service/broken', 'shop'],
    ],
  )
  equal(omitted, 0)
  equal(checked > 20, true)
  match(notes.join(' '), /^The nodes node-0 and node-1 are simulated/)
  match(problems[2]?.waits.join(' ') ?? '', /3 pods \(broken-\S+ and 2 others\): .*image "gone" does not exist/)
  match(explanationLines({ notes: [], waits: [], fixes: [], ...problems[3] }).join(' '), /\n\| no input$/)
  deepEqual(problems[2]?.fixes, ['kubectl set image deployment/broken c=NEW_IMAGE -n shop'])
})

test('the problems of one namespace', async () => {
  const { problems } = await problemsIn('shop')
  deepEqual(
    problems.map(({ object }) => object),
    ['pod/big', 'deployment/broken', 'pod/loop', 'service/broken'],
  )
  const { problems: none, notes } = await problemsIn('default')
  deepEqual(none, [])
  match(notes.join(' '), /^The nodes node-0 and node-1 are simulated/)
})

test('what the user may not read is neither wrong nor right', async () => {
  const { problems, notes } = await problemsIn('shop', cluster.as('jane'))
  deepEqual(problems, [])
  match(notes.join(' '), /^Not checked, because you may not read them: .*\bpods\b/)
})

test('the explanation of a Deployment has the warning events of its pods that its findings do not report', async () => {
  const { client } = cluster
  const [first] = (await client.of(pod).list({ namespace: 'shop', labelSelector: 'app=broken' })).items
  const { name, uid } = first?.metadata ?? { name: '', uid: '' }
  await client.of(event).create(
    {
      metadata: { name: 'hook' },
      involvedObject: { kind: 'Pod', namespace: 'shop', name, uid },
      type: 'Warning',
      reason: 'FailedPostStartHook',
      message: 'exit code 1',
      firstTimestamp: '2030-01-01T00:00:30Z',
      lastTimestamp: '2030-01-01T00:00:30Z',
      count: 1,
    },
    'shop',
  )
  const text = await cluster.why(deployment, 'broken', 'shop')
  match(
    text,
    new RegExp(`\\nWhat was tried:\\n  Pod ${name}: FailedPostStartHook: exit code 1 \\(2030-01-01T00:00:30Z\\)\\n`),
  )
  equal(text.match(/does not exist/g)?.length, 1, 'a missing image is reported once')
})
