// The end-to-end scenario on the virtual clock: it takes milliseconds, and has the same result each time.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, pod, replicaSet, startCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }

async function thread(seed: number): Promise<{ seen: string[]; flow: string }> {
  await using cluster = await startCluster({ seed })
  const { client, clock } = cluster
  const deployments = client.of(deployment)
  const seen: string[] = []
  const look = async (step: string) => {
    await clock.advance('40s')
    const pods = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
    seen.push(`${step}: ${pods.map(({ spec, status }) => `${spec.containers[0]?.image} ${status.phase}`).join(', ')}`)
  }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:1' }] } }
  await deployments.create(
    { metadata: { name: 'web' }, spec: { replicas: 3, selector: { matchLabels: labels }, template } },
    'default',
    ctx,
  )
  await look('create')
  await deployments.patch('web', 'default', { spec: { replicas: 2 } }, 'merge', ctx, 'scale')
  await look('scale')
  const image = { spec: { template: { spec: { containers: [{ name: 'nginx', image: 'nginx:2' }] } } } }
  await deployments.patch('web', 'default', image, 'strategic', ctx)
  await look('set image')
  await deployments.delete('web', 'default', {}, ctx)
  await look('delete')
  equal((await client.of(replicaSet).list({}, ctx)).items.length, 0)
  return { seen, flow: cluster.flow(deployment, 'web') }
}

test('create, scale, set image and delete, and the same diagram for the same seed', async () => {
  const first = await thread(3)
  deepEqual(first.seen, [
    'create: nginx:1 Running, nginx:1 Running, nginx:1 Running',
    'scale: nginx:1 Running, nginx:1 Running',
    'set image: nginx:2 Running, nginx:2 Running',
    'delete: ',
  ])
  equal((await thread(3)).flow, first.flow)
})
