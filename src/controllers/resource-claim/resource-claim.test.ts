// ResourceClaims of pods that finish or are deleted.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { resourceClaim } from '../../api/resource/v1/resource-claim.ts'
import { context, startCluster } from '../../cluster/index.ts'

const ctx = context(new AbortController().signal)
const finalizers = ['resource.kubernetes.io/delete-protection']
const request = { name: 'r', exactly: { deviceClassName: 'c' } }
const allocation = { devices: { results: [{ request: 'r', driver: 'd.example', pool: 'p', device: 'x' }] } }

type Cluster = Awaited<ReturnType<typeof startCluster>>

async function makePod({ client }: Cluster, name: string, spec: object = {}): Promise<string> {
  const containers = [{ name: 'c', image: 'i' }]
  const resourceClaims = [{ name: 'd', resourceClaimName: 'claim' }]
  const body = { metadata: { name }, spec: { containers, resourceClaims, nodeName: 'n', ...spec } }
  return (await client.of(pod).create(body, 'default', ctx)).metadata.uid
}

/** Creates an allocated claim that is reserved for pods. */
async function makeClaim({ client }: Cluster, users: readonly [name: string, uid: string][], owner?: string) {
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: owner, controller: true }]
  const spec = { devices: { requests: [request] } }
  const claims = client.of(resourceClaim)
  const made = await claims.create({ metadata: { name: 'claim', finalizers, ownerReferences }, spec }, 'default', ctx)
  const reservedFor = users.map(([name, uid]) => ({ resource: 'pods', name, uid }))
  await claims.updateStatus({ ...made, status: { allocation, reservedFor } }, ctx)
}

async function found({ client, clock }: Cluster): Promise<unknown> {
  await clock.settle()
  const claim = await client.of(resourceClaim).find('claim', 'default', ctx)
  if (claim === undefined) return 'gone'
  const { metadata, status } = claim
  const users = (status.reservedFor ?? []).map(({ name }) => name)
  return { users, hasDevices: status.allocation !== undefined, isHeld: metadata.finalizers !== undefined }
}

const end = ({ client }: Cluster, name: string) =>
  client.of(pod).patch(name, 'default', { status: { phase: 'Succeeded' } }, 'merge', ctx, 'status')

const remove = ({ client }: Cluster, name: string) =>
  client.of(pod).delete(name, 'default', { gracePeriodSeconds: 0 }, ctx)

test('a claim is deallocated when its last pod has finished', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const users = [
    ['a', await makePod(cluster, 'a')],
    ['b', await makePod(cluster, 'b')],
  ] as const
  await makeClaim(
    cluster,
    users.map(([name, uid]) => [name, uid]),
  )
  deepEqual(await found(cluster), { users: ['a', 'b'], hasDevices: true, isHeld: true })
  await end(cluster, 'a')
  deepEqual(await found(cluster), { users: ['b'], hasDevices: true, isHeld: true })
  await remove(cluster, 'b')
  deepEqual(await found(cluster), { users: [], hasDevices: false, isHeld: false })
})

test('a claim that was generated for a pod is deleted when the pod has finished', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const uid = await makePod(cluster, 'a')
  await makeClaim(cluster, [['a', uid]], uid)
  deepEqual(await found(cluster), { users: ['a'], hasDevices: true, isHeld: true })
  await end(cluster, 'a')
  deepEqual(await found(cluster), 'gone')
})

test('a deleted claim is kept while it is in use', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await makeClaim(cluster, [['a', await makePod(cluster, 'a')]])
  await cluster.client.of(resourceClaim).delete('claim', 'default', {}, ctx)
  deepEqual(await found(cluster), { users: ['a'], hasDevices: true, isHeld: true })
  await remove(cluster, 'a')
  deepEqual(await found(cluster), 'gone')
})

test('a pod with the same name and another uid is not a user', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await makeClaim(cluster, [['a', 'another']])
  await makePod(cluster, 'a', { resourceClaims: [] })
  deepEqual(await found(cluster), { users: [], hasDevices: false, isHeld: false })
})

test('a pod with a nodeName becomes a user of its claim; an unscheduled one does not', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const uid = await makePod(cluster, 'a')
  await makeClaim(cluster, [['a', uid]])
  await makePod(cluster, 'waiting', { nodeName: undefined })
  await makePod(cluster, 'b')
  deepEqual(await found(cluster), { users: ['a', 'b'], hasDevices: true, isHeld: true })
  await end(cluster, 'a')
  await end(cluster, 'b')
  deepEqual(await found(cluster), { users: [], hasDevices: false, isHeld: false })
})

test('a claim that was generated for a pod is not reserved for another pod that names it', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const uid = await makePod(cluster, 'a')
  await makeClaim(cluster, [['a', uid]], uid)
  await makePod(cluster, 'b')
  deepEqual(await found(cluster), { users: ['a'], hasDevices: true, isHeld: true })
})
