// Flow 24: a node stops reporting: it becomes Unknown and tainted, and its pods are evicted and replaced; and its
// return.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  deployment,
  endpointSlice,
  event,
  node,
  pod,
  service,
  startCluster,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { comparePage, excerpt } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }

async function start(spec: object = {}): Promise<{ cluster: TestCluster; lost: string; nodeName: string }> {
  const cluster = await startCluster({ nodes: 3 })
  const { client } = cluster
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }
  await client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: labels }, template } },
      'default',
      ctx,
    )
  await client
    .of(service)
    .create({ metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } }, 'default', ctx)
  await cluster.clock.advance('5s')
  const [only] = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
  return { cluster, lost: only?.metadata.name ?? '', nodeName: only?.spec.nodeName ?? '' }
}

const readyOf = async ({ client }: TestCluster, name: string) => {
  const { status, spec } = await client.of(node).get(name, '', ctx)
  const taints = (spec.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
  return [status.conditions?.find(({ type }) => type === 'Ready')?.status, ...taints]
}

const readyEndpoints = async ({ client }: TestCluster) =>
  (await client.of(endpointSlice).list({ namespace: 'default' }, ctx)).items
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
    .flatMap(({ endpoints }) => (endpoints ?? []).filter(({ conditions }) => conditions.ready)).length

const podsOf = async ({ client }: TestCluster) =>
  (await client.of(pod).list({ namespace: 'default' }, ctx)).items.map(({ metadata, spec }) => ({
    name: metadata.name,
    nodeName: spec.nodeName ?? '',
    isEnding: metadata.deletionTimestamp !== undefined,
  }))

const eventsOn = async ({ client }: TestCluster, name: string) =>
  new Set(
    (await client.of(event).list({ namespace: 'default' }, ctx)).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason }) => reason),
  )

/** Without the creation of the node and the pod. */
const afterStart = (flow: string): string =>
  flow
    .split('\n')
    .filter((line) => !/^ *\+0ms/.test(line))
    .join('\n')

test('24 node failure', async () => {
  const { cluster, lost, nodeName } = await start()
  await using _cluster = cluster
  const { clock } = cluster
  await cluster.kill(`kubelet/${nodeName}`)
  await clock.advance('35s')
  deepEqual(await readyOf(cluster, nodeName), ['True'], 'a few beats may be lost')
  equal(await readyEndpoints(cluster), 1)
  await clock.advance('25s')
  deepEqual(await readyOf(cluster, nodeName), ['Unknown', 'unreachable:NoSchedule', 'unreachable:NoExecute'])
  equal(await readyEndpoints(cluster), 0, 'traffic goes elsewhere before the pod does')
  await clock.advance('280s')
  deepEqual(await podsOf(cluster), [{ name: lost, nodeName, isEnding: false }], 'it is tolerated for five minutes')
  await clock.advance('30s')
  const [ended, replacement] = (await podsOf(cluster)).toSorted((a, b) => Number(b.isEnding) - Number(a.isEnding))
  deepEqual([ended?.name, ended?.isEnding], [lost, true], 'it is unknown whether it still runs')
  equal(replacement?.nodeName === nodeName || replacement === undefined, false, 'another one runs elsewhere')
  equal(await readyEndpoints(cluster), 1)
  deepEqual([...(await eventsOn(cluster, nodeName))].filter((reason) => reason?.includes('Node')).toSorted(), [
    'NodeNotReady',
    'RegisteredNode',
  ])
  equal((await eventsOn(cluster, lost)).has('TaintManagerEviction'), true)

  cluster.start(`kubelet/${nodeName}`)
  await clock.advance('1m')
  deepEqual(await readyOf(cluster, nodeName), ['True'], 'the taints go when it is back')
  deepEqual(
    (await podsOf(cluster)).map(({ name }) => name),
    [replacement?.name],
    'its containers were ended',
  )
  const [flow, pods] = [cluster.flow(node, nodeName), cluster.flow(pod, lost)].map(afterStart) as [string, string]
  for (const arrow of [
    /controller\/node-lifecycle ──► API Server: patch pods\/status/,
    /controller\/endpoint-slice ──► API Server: update endpointslices/,
    /controller\/taint-eviction ──► API Server: delete pods/,
    /Runtime: stop container c/,
  ])
    match(pods, arrow)
  await comparePage('24-node-failure', 'Node failure', [
    {
      heading: 'The node',
      text: 'Its lease is not renewed. After 50 s its conditions become Unknown and it is tainted. When it renews its lease again, the taints are removed.',
      diagram: excerpt(
        flow,
        new RegExp(`controller/node-lifecycle ──► API Server: (update|patch) nodes.* ${nodeName}`),
        new RegExp(`kubelet/${nodeName} ──► API Server: update nodes/status`),
      ),
    },
    {
      heading: 'Its pod',
      text: 'The pod becomes not ready together with its node and is removed from its Service. After five minutes, for which it tolerates the taint, it is evicted and replaced on another node. Its containers are stopped when the node is back.',
      diagram: excerpt(
        pods,
        /controller\/(node-lifecycle|taint-eviction|endpoint-slice) ──► API Server: (patch pods|delete pods|update endpointslices)/,
        /Store: (put|delete) pod web/,
        /Runtime: (stop|remove)/,
      ),
    },
  ])
})

test('24: a node that returns in time keeps its pods', async () => {
  const { cluster, lost, nodeName } = await start()
  await using _cluster = cluster
  await cluster.kill(`kubelet/${nodeName}`)
  await cluster.clock.advance('3m')
  equal(await readyEndpoints(cluster), 0)
  cluster.start(`kubelet/${nodeName}`)
  await cluster.clock.advance('10m')
  deepEqual(await podsOf(cluster), [{ name: lost, nodeName, isEnding: false }])
  equal(await readyEndpoints(cluster), 1)
  equal((await eventsOn(cluster, lost)).has('TaintManagerEviction'), true, 'its deletion was called off')
})

test('24: a pod with an unlimited toleration stays, and one without is evicted at once', async () => {
  const unreachable = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' }
  for (const [toleration, stays] of [
    [unreachable, true],
    [{ ...unreachable, tolerationSeconds: 0 }, false],
  ] as const) {
    const { cluster, lost, nodeName } = await start({ tolerations: [toleration] })
    await using _cluster = cluster
    await cluster.kill(`kubelet/${nodeName}`)
    await cluster.clock.advance(stays ? '30m' : '70s')
    equal((await podsOf(cluster)).find(({ name }) => name === lost)?.isEnding, !stays)
  }
})

test('24: the pods of a deleted node are deleted', async () => {
  const { cluster, lost, nodeName } = await start()
  await using _cluster = cluster
  await cluster.kill(`kubelet/${nodeName}`)
  await cluster.client.of(node).delete(nodeName, '', {}, ctx)
  await cluster.clock.advance('2m')
  const present = await podsOf(cluster)
  equal(
    present.some(({ name }) => name === lost),
    false,
  )
  equal(present.length, 1)
  equal((await eventsOn(cluster, nodeName)).has('RemovingNode'), true)
})

test('24: nothing is evicted when no node responds', async () => {
  const { cluster, lost } = await start()
  await using _cluster = cluster
  for (const name of cluster.components.filter((each) => each.startsWith('kubelet/'))) await cluster.kill(name)
  await cluster.clock.advance('30m')
  deepEqual(
    (await podsOf(cluster)).map(({ name, isEnding }) => [name, isEnding]),
    [[lost, false]],
  )
})
