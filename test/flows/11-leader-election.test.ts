// Flow 11: of two controller managers one leads; when it dies the other takes over.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, lease, startCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

const ctx = context(new AbortController().signal)

test('11 leader election', async () => {
  await using cluster = await startCluster({ nodes: 0, controllerManagers: 2, seed: 2 })
  const { client, clock } = cluster
  const held = async () => (await client.of(lease).get('kube-controller-manager', 'kube-system', ctx)).spec
  await clock.advance('7s')
  const first = (await held()).holderIdentity ?? ''
  const [leader, standby] =
    first === 'controllers_1' ? ['controllers', 'controllers-1'] : ['controllers-1', 'controllers']
  await cluster.kill(leader)
  await clock.advance('9s')
  equal((await held()).holderIdentity, first, 'the standby waits')
  await clock.advance('20s')
  const taken = await held()
  deepEqual([taken.holderIdentity, taken.leaseTransitions], [`${standby}_1`, 1])
  const flow = cluster.flow(lease, 'kube-controller-manager', 'kube-system')
  inOrder(
    flow,
    new RegExp(`${leader} ──► API Server: create leases kube-controller-manager → 201`),
    new RegExp(`${leader} ──► API Server: update leases kube-controller-manager → 200`),
    new RegExp(`${standby} ──► API Server: update leases kube-controller-manager → 200`),
  )
  await comparePage('11-leader-election', 'Leader election', [
    {
      heading: 'A leader dies',
      text: 'The leader renews its lease every two seconds. After its death the standby sees no change for fifteen seconds by its own clock, and takes the lease.',
      diagram: excerpt(flow, /leases kube-controller-manager/, /lease kube-controller-manager/),
    },
  ])
})
