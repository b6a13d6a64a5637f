// The golden flow of the end-to-end scenario: the same seed gives the same diagram, and it equals the recorded one.
import { equal } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { context, deployment, startCluster } from '../../src/cluster/index.ts'
import { settled, without } from './page.ts'

const ctx = context(new AbortController().signal)
const golden = new URL('./golden/deployment.txt', import.meta.url)

async function recordedFlow(seed: number): Promise<string> {
  await using cluster = await startCluster({ seed })
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } }
  const deployments = cluster.client.of(deployment)
  await deployments.create(
    { metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: labels }, template } },
    'default',
    ctx,
  )
  await cluster.clock.advance('5s')
  await deployments.delete('web', 'default', {}, ctx)
  await cluster.clock.advance('1m')
  return cluster.flow(deployment, 'web')
}

test('the flow of a Deployment from creation to deletion is the golden one', async () => {
  const drawn = settled(without(await recordedFlow(1), /update (deployments|replicasets)\/status/))
  if (process.env['RECORD_FLOWS'] !== undefined) await writeFile(golden, drawn)
  equal(drawn, await readFile(golden, 'utf8'))
})

test('the same seed gives the same diagram, another seed other names', async () => {
  equal(await recordedFlow(7), await recordedFlow(7))
  equal((await recordedFlow(7)) === (await recordedFlow(8)), false)
})
