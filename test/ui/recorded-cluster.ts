// A recorded run for tests of the page: a Deployment that is rolled out, a pod that fits on no node, a
// rejected request, and a pod that is deleted.
// Time is virtual and the seed is fixed, so every run gives the same report.
import { pod, startCluster } from '../../src/cluster/index.ts'

/** Text that would change the title if it was interpreted as markup. */
export const hostile = '<img src=x onerror="document.title=1">'

const container = { name: 'c', image: 'nginx:1.27' }

export async function recordCluster(file: string, title: string): Promise<void> {
  await using cluster = await startCluster({ nodes: 2 })
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } }
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
  })
  const resources = { requests: { cpu: '64' } }
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'big', namespace: 'default', annotations: { note: hostile } },
    spec: { containers: [{ ...container, resources }] },
  })
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'big' }, spec: { containers: [container] } }, 'default')
    .catch(() => undefined)
  const pods = cluster.client.of(pod)
  await pods.create({ metadata: { name: 'short' }, spec: { containers: [container] } }, 'default')
  await cluster.clock.advance('5s')
  await pods.delete('short', 'default', { gracePeriodSeconds: 0 })
  await cluster.clock.advance('5s')
  await cluster.report(file, title)
}
