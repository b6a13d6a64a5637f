// kill -9 of the whole process in the middle of a rollout: the next start continues and completes it.
import { equal } from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { test } from 'node:test'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { context, deployment, pod } from '../../src/cluster/index.ts'
import { newFolder, startUpIn, type RunningUp } from '../process.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const replicas = 12
const labels = { app: 'web' }
const template = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image }], terminationGracePeriodSeconds: 0 },
})

async function clientOf({ kubeconfig }: RunningUp) {
  const remote = await openRemote(await readFile(kubeconfig, 'utf8'), signal)
  const client = remote.clientAs('test')
  const status = async () => (await client.of(deployment).get('web', 'default', ctx)).status
  return {
    deployments: client.of(deployment),
    updated: async () => (await status()).updatedReplicas ?? 0,
    isDone: async (image: string) => {
      const { availableReplicas = 0, updatedReplicas = 0, replicas: all = 0 } = await status()
      const pods = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
      const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      return (
        [availableReplicas, updatedReplicas, all, alive.length].every((count) => count === replicas) &&
        alive.every(({ spec }) => spec.containers[0]?.image === image)
      )
    },
    [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
  }
}

test('a rollout that is interrupted by kill -9 completes after the next start', async () => {
  const folder = await newFolder()
  try {
    {
      await using killed = await startUpIn(folder)
      await using client = await clientOf(killed)
      // Each of its six steps takes at least a second, so that a slow poll still observes one of them.
      const strategy = { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } }
      const selector = { matchLabels: labels }
      const spec = { replicas, strategy, minReadySeconds: 1, selector, template: template('image:1') }
      await client.deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
      await until(() => client.isDone('image:1'))
      await client.deployments.patch('web', 'default', { spec: { template: template('image:2') } }, 'strategic', ctx)
      let updated = 0
      await until(async () => (updated = await client.updated()) > 0 && updated < replicas)
      equal(await killed.end('SIGKILL'), -1)
    }
    await using running = await startUpIn(folder)
    await using client = await clientOf(running)
    await until(() => client.isDone('image:2'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
