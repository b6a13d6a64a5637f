// Containers that use the CPU are scaled up: their usage comes from cgroups, through the kubelet and the metrics API.
import { match } from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

const loop = 'trap "exit 0" TERM; while :; do :; done'

inNamespaces(import.meta.url, () => {
  test('a Deployment of busy containers is scaled up to its maximum', async () => {
    await using up = await startRealUp()
    const { image, k } = up
    const labels = { app: 'busy' }
    const resources = { requests: { cpu: '20m' }, limits: { cpu: '100m' } }
    const container = { name: 'c', image, command: ['/bin/sh', '-c', loop], resources }
    const spec = { terminationGracePeriodSeconds: 0, containers: [container] }
    await up.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'busy' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    })
    await k(['rollout', 'status', 'deployment/busy', '--timeout=200s'])
    const target = { type: 'Utilization', averageUtilization: 50 }
    await up.apply({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'busy' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
        maxReplicas: 3,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      },
    })
    await k(['wait', 'hpa/busy', '--for=jsonpath={.status.desiredReplicas}=3', '--timeout=200s'])
    await k(['wait', 'deployment/busy', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=200s'])
    match(await k(['get', 'hpa', 'busy']), /^NAME .*\nbusy +Deployment\/busy +cpu: \d+%\/50% +1 +3 +\d +\S+\n$/)
  })
})
