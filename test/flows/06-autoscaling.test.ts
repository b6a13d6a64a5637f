// Flow 06: load rises and falls, and the autoscaler follows; without metrics it does not scale and reports why. Ten minutes
// on simulated nodes; test/containers/autoscaling.test.ts has the same with real containers that use the CPU.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment, horizontalPodAutoscaler, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

/** Running containers share the demand equally. */
class Load {
  demandMillis = 100
  #running = 0

  run({ terminated }: { readonly terminated: AbortSignal }): Promise<number> {
    this.#running++
    return new Promise((resolve) =>
      terminated.addEventListener('abort', () => {
        this.#running--
        resolve(0)
      }),
    )
  }

  get cpuMillis(): number {
    return this.demandMillis / this.#running
  }
}

const fallsAfterMs = 6 * 60_000
const labels = { app: 'web' }
const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
]

/** Two replicas that request 100m of CPU, and an autoscaler for two to ten of them at half of that. */
async function runWeb(load: Load, requests: Readonly<Record<string, string>>): Promise<TestCluster> {
  const simulation = {
    images: { web: (process: { readonly terminated: AbortSignal }) => load.run(process) },
    usage: () => ({ cpuMillis: load.cpuMillis }),
  }
  const cluster = await startCluster({ nodes: 2, simulation })
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'web', image: 'web', resources: { requests } }] },
  }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec })
  await cluster.clock.advance('6m')
  await cluster.client.of(horizontalPodAutoscaler).create({
    metadata: { name: 'web' },
    spec: {
      minReplicas: 2,
      maxReplicas: 10,
      metrics,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      behavior: {
        scaleDown: { stabilizationWindowSeconds: 60, policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] },
      },
    },
  })
  return cluster
}

const replicasOf = async ({ client }: TestCluster) => (await client.of(deployment).get('web')).spec.replicas
const statusOf = async ({ client }: TestCluster) => (await client.of(horizontalPodAutoscaler).get('web')).status
const conditionsOf = async (cluster: TestCluster) =>
  ((await statusOf(cluster)).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

/** The flow until the load falls, and from there. */
function phases(flow: string): readonly string[] {
  const lines = flow.split('\n')
  const isRising = (line: string) => Number(/\+(\d+)ms/.exec(line)?.[1] ?? 0) < fallsAfterMs
  return [lines.filter(isRising), lines.filter((line) => !isRising(line))].map((some) => some.join('\n'))
}

test('06 autoscaling', async () => {
  const load = new Load()
  await using cluster = await runWeb(load, { cpu: '100m' })
  const seen: (number | undefined)[] = []
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) {
      await cluster.clock.advance('1m')
      seen.push(await replicasOf(cluster))
    }
  }
  await minutes(1)
  deepEqual(await conditionsOf(cluster), [
    'AbleToScale=True ReadyForNewScale',
    'ScalingActive=True ValidMetricFound',
    'ScalingLimited=False DesiredWithinRange',
  ])
  load.demandMillis = 400
  await minutes(5)
  load.demandMillis = 50
  await minutes(4)
  deepEqual(seen, [2, 9, 9, 9, 9, 9, 5, 2, 2, 2])
  equal((await statusOf(cluster)).currentMetrics?.[0]?.resource?.current.averageUtilization, 25)
  const flow = cluster.flow(horizontalPodAutoscaler, 'web')
  const [rising = '', falling = ''] = phases(flow)
  inOrder(
    flow,
    /update deployments\/scale web → 200/,
    /create pods web-/,
    /update deployments\/scale web → 200/,
    /delete pods web-/,
  )

  await using blind = await runWeb(new Load(), { cpu: '100m' })
  for (const node of ['kubelet/node-0', 'kubelet/node-1']) await blind.kill(node)
  await blind.clock.advance('30s')
  equal(await replicasOf(blind), 2)
  deepEqual(await conditionsOf(blind), [
    'AbleToScale=True SucceededGetScale',
    'ScalingActive=False FailedGetResourceMetric',
  ])
  match(
    (await statusOf(blind)).conditions?.[1]?.message ?? '',
    /^the HPA was unable to compute the replica count: failed to get cpu utilization: .*: no metrics returned from resource metrics API$/,
  )
  const unscaled = blind.flow(horizontalPodAutoscaler, 'web')
  doesNotMatch(unscaled, /deployments\/scale/)

  await comparePage(
    '06-autoscaling',
    'Autoscaling',
    [
      {
        heading: 'Load rises',
        text: 'The autoscaler is evaluated every 15 seconds. It reads the CPU usage of the pods from the metrics API, computes the number of replicas and updates the scale of the Deployment.',
        diagram: excerpt(
          rising,
          /deployments\/scale/,
          /update replicasets web/,
          /create pods web/,
          /start container/,
          /autoscalers\/status/,
        ),
      },
      {
        heading: 'Load falls',
        text: 'Replicas are removed when all recommendations of the stabilization window are lower, at most four in a minute as the policy of this autoscaler requires.',
        diagram: excerpt(
          falling,
          /deployments\/scale/,
          /update replicasets web/,
          /delete pods web/,
          /stop container/,
          /autoscalers\/status/,
        ),
      },
      {
        heading: 'Metrics are missing',
        text: 'No kubelet responds, so the metrics API has no values. The number of replicas stays as it is, and the condition ScalingActive reports FailedGetResourceMetric.',
        diagram: excerpt(unscaled, /horizontalpodautoscalers/, /create events/),
      },
    ],
    [
      [
        'every metric type, selectors, windows and policies',
        'decisions are those of upstream',
        'test/horizontal-pod-autoscaler/decisions.test.ts',
      ],
    ],
  )
})
