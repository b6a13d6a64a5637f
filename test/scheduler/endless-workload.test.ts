// A workload with billions of replicas creates pods as fast as it can; a Deployment of another namespace becomes ready meanwhile.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, namespace, pod, startCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
/** The time of each write, so that the workload creates pods all the time. */
const commitMs = 20
const waitingMin = 1_000
const readyMsMax = 5_000

const deploymentOf = (name: string, replicas: number, spec: object) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'x' }], ...spec } },
  },
})

const rows: readonly (readonly [where: string, endless: object, canary: object])[] = [
  ['on free nodes', { nodeSelector: { 'kubernetes.io/hostname': 'node-0' } }, {}],
  ['on full nodes with a higher priority', {}, { priorityClassName: 'system-node-critical' }],
]
for (const [where, endless, canary] of rows)
  test(`a Deployment ${where} becomes ready within seconds while an endless workload creates pods`, async () => {
    await using cluster = await startCluster({ nodes: 2 })
    const { client, clock, faults } = cluster
    for (const name of ['endless', 'canary']) await client.of(namespace).create({ metadata: { name } }, ctx)
    faults.slowStore(commitMs)
    await client.of(deployment).create(deploymentOf('endless', 2_147_483_647, endless), 'endless', ctx)
    const countOf = async (fieldSelector: string) =>
      (await client.of(pod).list({ namespace: 'endless', fieldSelector }, ctx)).items.length
    await cluster.until(async () => (await countOf('spec.nodeName=')) >= waitingMin)
    equal(await countOf('spec.nodeName=node-0'), 110)
    const before = await countOf('')
    const sinceMs = clock.nowMs()
    await client.of(deployment).create(deploymentOf('canary', 2, canary), 'canary', ctx)
    await cluster.until(
      async () => (await client.of(deployment).get('canary', 'canary', ctx)).status.readyReplicas === 2,
    )
    const readyMs = clock.nowMs() - sinceMs
    ok(readyMs <= readyMsMax, `ready after ${readyMs} ms`)
    ok((await countOf('')) > before, 'pods are created meanwhile')
  })
