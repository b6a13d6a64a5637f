// The servers of a cluster that has just started.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { lease } from '../../api/coordination/v1/lease.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { runningServers } from './distribute-files.ts'

const { signal } = new AbortController()

test('a server that has not written its Lease yet is waited for', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const found = runningServers({ client, clock }, signal)
  await clock.advance('2s')
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
  await client.of(lease).create({ metadata: { name: 'apiserver-a', namespace: 'kube-system', labels }, spec: {} })
  await clock.advance('1s')
  deepEqual(
    (await found).map(({ metadata }) => metadata.name),
    ['apiserver-a'],
  )
})

test('without a server, the error says so after a minute', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const found = rejects(runningServers({ client, clock }, signal), /^Error: no API server has confirmed the new keys/)
  await clock.advance('61s')
  await found
})
