// A namespace is deleted while all kinds of workloads run in it on simulated nodes: nothing remains, and nothing hangs.
// test/containers/namespace-deletion.test.ts does the same with real containers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, job, namespace, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { kinds } from '../../src/api/kinds.ts'
import { workloadPods, workloads } from '../workloads.ts'

const ctx = context(new AbortController().signal)
const place = 'work'

async function startWorking(): Promise<TestCluster> {
  const cluster = await startCluster()
  await cluster.client.of(namespace).create({ metadata: { name: place } }, '', ctx)
  for (const object of workloads('serves')) {
    const { apiVersion, kind: name } = object as { apiVersion: string; kind: string }
    const kind = kinds.find((each) => each.apiVersion === apiVersion && each.kind === name)
    if (kind === undefined) throw new Error(`there is no kind ${name} in ${apiVersion}`)
    await cluster.client.of(kind).create(object, place, ctx)
  }
  const isRunning = async () => (await running(cluster)).length === workloadPods
  await cluster.until(isRunning, '3m')
  return cluster
}

const podsOf = async ({ client }: TestCluster) => (await client.of(pod).list({ namespace: place }, ctx)).items
const running = async (cluster: TestCluster) =>
  (await podsOf(cluster)).filter(({ status }) => status.phase === 'Running')

test('a namespace with running workloads of every kind is deleted', async () => {
  await using cluster = await startWorking()
  await cluster.client.of(namespace).delete(place, '', {}, ctx)
  const isGone = async () => (await cluster.client.of(namespace).find(place, '', ctx)) === undefined
  await cluster.until(isGone, '2m')
  deepEqual(await podsOf(cluster), [])
})

test('pods of every kind of workload are deleted one by one, and replaced', async () => {
  await using cluster = await startWorking()
  const before = await podsOf(cluster)
  for (const { metadata } of before) await cluster.client.of(pod).delete(metadata.name, place, {}, ctx)
  const uids = new Set(before.map(({ metadata }) => metadata.uid))
  await cluster.until(async () => !(await podsOf(cluster)).some(({ metadata }) => uids.has(metadata.uid)), '2m')
  // A replica of an index may exit with 0, which completes the index: only the plain Job has a count to expect.
  const statusOf = async (name: string) => (await cluster.client.of(job).get(name, place, ctx)).status
  equal(await cluster.until(async () => (await statusOf('plain')).failed, '2m'), 1)
  for (const name of ['plain', 'indexed']) deepEqual((await statusOf(name)).uncountedTerminatedPods, {})
})
