// Drains of nodes in a cluster with all controllers, in virtual time.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { certificateSigningRequest } from '../../api/certificates/v1/certificate-signing-request.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { certificateRequestPem } from '../../pki/certificate-request.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { drainNode, type DrainOptions } from './drain-node.ts'
import { removeNode } from './remove-node.ts'

const plain: DrainOptions = { ignoresDaemonSets: true, deletesLocalData: false, isForced: false, ignoresBudgets: false }

async function start() {
  const cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await client.of(deployment).create({
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  })
  await clock.advance('10s')
  const printed: string[] = []
  const add = (line: string) => void printed.push(line)
  const deps = { client, clock, out: add, warn: add }
  const podsOf = async (name: string) =>
    (await client.of(pod).list()).items
      .filter(({ spec }) => spec.nodeName === name)
      .map(({ metadata }) => metadata.name)
  const place = (await client.of(pod).list()).items[0]?.spec.nodeName ?? ''
  const stop = new AbortController()
  return { cluster, client, clock, printed, deps, podsOf, place, stop }
}

test('a drain cordons the node, evicts its pods and waits for their end', async () => {
  const { cluster, client, clock, printed, deps, podsOf, place, stop } = await start()
  await using _cluster = cluster
  const before = await podsOf(place)
  ok(before.length > 0)
  const drained = drainNode(place, plain, deps, stop.signal)
  await clock.advance('60s')
  await drained
  deepEqual(await podsOf(place), [])
  equal((await client.of(node).get(place)).spec?.unschedulable, true)
  deepEqual(printed.toSorted(), [
    ...before.map((name) => `evicting pod default/${name}`),
    `node/${place} cordoned`,
    `node/${place} drained`,
    ...before.map((name) => `pod/${name} evicted`).toSorted(),
  ])
  printed.length = 0
  await drainNode(place, plain, deps, stop.signal)
  deepEqual(printed, [`node/${place} already cordoned`, `node/${place} drained`])
})

test('a disruption budget delays a drain until it allows it, or the drain is given up', async () => {
  const { cluster, client, clock, printed, deps, podsOf, place, stop } = await start()
  await using _cluster = cluster
  const budget = { metadata: { name: 'web' }, spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } } }
  await client.of(podDisruptionBudget).create(budget)
  await clock.advance('5s')
  const given = new AbortController()
  const refused = rejects(drainNode(place, plain, deps, given.signal), /given up/)
  await clock.advance('12s')
  given.abort(new Error('given up'))
  await refused
  const retries = printed.filter((line) => line.startsWith('error when evicting'))
  match(
    retries[0] ?? '',
    /^error when evicting pods\/"web-\S+" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
  )
  equal(retries.length % (await podsOf(place)).length, 0)
  const drained = drainNode(place, plain, deps, stop.signal)
  await clock.advance('6s')
  await client.of(podDisruptionBudget).delete('web')
  await clock.advance('60s')
  await drained
  deepEqual(await podsOf(place), [])
})

test('budgets can be ignored, and pods selected', async () => {
  const { cluster, client, clock, deps, podsOf, place, stop } = await start()
  await using _cluster = cluster
  const budget = { metadata: { name: 'web' }, spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } } }
  await client.of(podDisruptionBudget).create(budget)
  await clock.advance('5s')
  const before = await podsOf(place)
  await drainNode(place, { ...plain, podSelector: 'app=other' }, deps, stop.signal)
  deepEqual(await podsOf(place), before)
  const drained = drainNode(place, { ...plain, ignoresBudgets: true, graceSeconds: 1 }, deps, stop.signal)
  await clock.advance('20s')
  await drained
  deepEqual(await podsOf(place), [])
})

test('a pod without a controller prevents a drain, and nothing is evicted', async () => {
  const { cluster, client, clock, printed, deps, podsOf, place, stop } = await start()
  await using _cluster = cluster
  await client.of(pod).create({
    metadata: { name: 'lone' },
    spec: { nodeName: place, containers: [{ name: 'a', image: 'a:1' }] },
  })
  await clock.advance('5s')
  const before = await podsOf(place)
  await rejects(
    drainNode(place, plain, deps, stop.signal),
    new RegExp(
      `^Error: unable to drain node "${place}": cannot delete Pods that declare no controller \\(use --force to override\\): default/lone$`,
    ),
  )
  deepEqual([await podsOf(place), printed], [before, [`node/${place} cordoned`]])
  await rejects(drainNode('none', plain, deps, stop.signal), /nodes "none" not found/)
})

test('a removed node leaves no objects', async () => {
  const { cluster, client, clock, printed, deps, place, stop } = await start()
  await using _cluster = cluster
  const other =
    (await client.of(node).list()).items.map(({ metadata }) => metadata.name).find((name) => name !== place) ?? ''
  const requestOf = async (name: string, nodeName: string) => {
    const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] }
    const request = base64Text(certificateRequestPem({ subject }, nodePlatform.crypto.generateKey()))
    const signerName = 'kubernetes.io/kube-apiserver-client-kubelet'
    const usages = ['digital signature', 'client auth']
    await client.of(certificateSigningRequest).create({ metadata: { name }, spec: { request, signerName, usages } })
  }
  await requestOf('its', place)
  await requestOf('others', other)
  // Its machine ends, as with `coxswain reset`; otherwise the kubelet registers again.
  await cluster.powerOff(place)
  await clock.advance('60s')
  await removeNode(place, plain, deps, stop.signal)
  await clock.advance('60s')
  deepEqual(printed, [
    `Warning: node/${place} is not ready, so its pods are deleted without waiting for their end`,
    `node/${place} removed`,
  ])
  equal(await client.of(node).find(place), undefined)
  equal(await client.of(lease).find(place, 'kube-node-lease'), undefined)
  equal(await client.of(certificateSigningRequest).find('its'), undefined)
  ok(await client.of(certificateSigningRequest).find('others'))
  const left = (await client.of(pod).list()).items
  deepEqual([...new Set(left.map(({ spec }) => spec.nodeName))], [other])
})
