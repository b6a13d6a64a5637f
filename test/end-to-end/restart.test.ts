// Killing and restarting any component at any point of the scenario leads to the same final state.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, node, pod, replicaSet, startCluster, type TestCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const web = (image: string) => ({
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
  },
})

/** What must be equal in every run: without names and times. */
async function endState({ client }: TestCluster) {
  const { status, metadata } = await client.of(deployment).get('web', 'default', ctx)
  const pods = (await client.of(pod).list({}, ctx)).items
  const sets = (await client.of(replicaSet).list({}, ctx)).items
  return {
    revision: metadata.annotations?.['deployment.kubernetes.io/revision'],
    counts: [
      status.replicas,
      status.updatedReplicas,
      status.readyReplicas,
      status.availableReplicas,
      status.terminatingReplicas,
    ],
    conditions: status.conditions?.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`).toSorted(),
    pods: pods.map(({ spec, status: { phase } }) => `${spec.containers[0]?.image} ${phase} ${spec.nodeName}`),
    sets: sets
      .map(
        ({ spec, status: { readyReplicas = 0 } }) =>
          `${spec.template.spec.containers[0]?.image} ${spec.replicas} ${readyReplicas}`,
      )
      .toSorted(),
  }
}

/** Updates from image 1 to image 2; `disturb` runs after every `stepMs` of the rollout. */
async function rollout(cluster: TestCluster, disturb: (step: number) => Promise<void>): Promise<void> {
  const deployments = cluster.client.of(deployment)
  await deployments.create(web('image:1'), 'default', ctx)
  for (let step = 0; step < 4; step++) {
    await disturb(step)
    await cluster.clock.advance(50)
  }
  await cluster.clock.advance('40s')
  await deployments.patch('web', 'default', { spec: { template: web('image:2').spec.template } }, 'strategic', ctx)
  for (let step = 4; step < 8; step++) {
    await disturb(step)
    await cluster.clock.advance(50)
  }
  await cluster.clock.advance('3m')
}

const slowStart = { startMs: 30, pullMs: 20 }

const undisturbed = await (async () => {
  await using cluster = await startCluster({ simulation: slowStart })
  await rollout(cluster, () => Promise.resolve())
  return endState(cluster)
})()

test('the undisturbed rollout ends with every pod on the new image', () => {
  deepEqual(undisturbed, {
    revision: '2',
    counts: [3, 3, 3, 3, 0],
    conditions: ['Available True MinimumReplicasAvailable', 'Progressing True NewReplicaSetAvailable'],
    pods: Array.from({ length: 3 }, () => 'image:2 Running node-0'),
    sets: ['image:1 0 0', 'image:2 3 3'],
  })
})

for (const component of ['apiserver', 'controllers', 'scheduler', 'kubelet/node-0'])
  for (let at = 0; at < 8; at++)
    test(`${component} killed and restarted at step ${at}`, async () => {
      await using cluster = await startCluster({ simulation: slowStart, seed: at + 1 })
      await rollout(cluster, async (step) => {
        if (step !== at) return
        await cluster.kill(component)
        await cluster.clock.advance(component === 'apiserver' ? 20 : '2s')
        cluster.start(component)
        await cluster.clock.advance(20)
      })
      deepEqual(await endState(cluster), undisturbed)
    })

test('a restarted kubelet finds its containers and duplicates none', async () => {
  let starts = 0
  const images = {
    counted: ({ terminated }: { terminated: AbortSignal }) => {
      starts++
      return new Promise<number>((resolve) => terminated.addEventListener('abort', () => resolve(0)))
    },
  }
  await using cluster = await startCluster({ simulation: { images } })
  await cluster.client.of(deployment).create(web('counted'), 'default', ctx)
  await cluster.clock.advance('5s')
  await cluster.kill('kubelet/node-0')
  await cluster.clock.advance('5s')
  cluster.start('kubelet/node-0')
  await cluster.clock.advance('5s')
  equal(starts, 3)
  equal((await cluster.client.of(node).list({}, ctx)).items.length, 1)
})

test('pods deleted while their kubelet was down are cleaned up when it returns', async () => {
  await using cluster = await startCluster()
  await cluster.client.of(deployment).create(web('image:1'), 'default', ctx)
  await cluster.clock.advance('5s')
  await cluster.kill('kubelet/node-0')
  await cluster.client.of(deployment).delete('web', 'default', {}, ctx)
  await cluster.clock.advance('1m')
  equal((await cluster.client.of(pod).list({}, ctx)).items.length, 3, 'without a kubelet the pods are not terminated')
  cluster.start('kubelet/node-0')
  await cluster.clock.advance('1m')
  equal((await cluster.client.of(pod).list({}, ctx)).items.length, 0)
})
